// Adds to what the theme's script makes: names of the buttons beside code, and tables that the keyboard can scroll.
new MutationObserver(() => {
  for (const nav of document.querySelectorAll(".md-code__nav:not([aria-label])"))
    nav.setAttribute("aria-label", `Buttons of ${nav.parentElement.id.replace(/^__code_/, "code block ")}`)
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])"))
    box.tabIndex = 0
}).observe(document.body, { childList: true, subtree: true })
