// The search of a page that was opened as a file: browsers start no worker for it, so its script runs in a hidden frame.
class FrameWorker extends EventTarget {
  constructor(url) {
    super()
    const frame = document.createElement("iframe")
    frame.hidden = true
    document.body.append(frame)
    this.inside = frame.contentWindow
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
    const script = this.inside.document.createElement("script")
    this.ready = new Promise((loaded) => script.addEventListener("load", loaded))
    script.src = url
    this.inside.document.body.append(script)
  }

  postMessage(data) {
    this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker
