"""Opens the job of a crawl: finds its database, and checks that the job can continue with the given arguments."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scrapy.settings import BaseSettings

from sitemapcrawler import urls
from sitemapcrawler.download.shared import FINISHED
from sitemapcrawler.feeds.folder import CACHE, CONTENTS, EARLIER_CACHE
from sitemapcrawler.feeds.setup import holds
from sitemapcrawler.items import AlternateRecord, JsonObject
from sitemapcrawler.jobs import content_history, history
from sitemapcrawler.jobs.comparing import Comparison
from sitemapcrawler.jobs.job import OpenedJob
from sitemapcrawler.jobs.protocols import Arguments
from sitemapcrawler.jobs.store import Store, StoreError, check
from sitemapcrawler.jobs.store.database import FILE
from sitemapcrawler.jobs.store.files import in_words, is_locked, refusal
from sitemapcrawler.jobs.store.loading import findings_of, robots_of
from sitemapcrawler.reader.duck import CONFIG, duckdb
from sitemapcrawler.report.model import Run

ASIDE = ".earlier"
"""End of the name of a database that `fresh` replaces, until the new one can be used."""
SAMPLE = "sample"
NEEDING = ("baseline", "links", "compare", "fetch_as", "render", "segments", "policy", SAMPLE)
"""Arguments that need a database; of samples, those of a fixed size."""
ODD_CHARACTERS = frozenset("?\\")
"""Characters that DuckDB does not accept in a database's path."""


def open_job(settings: BaseSettings, params: Arguments, needed: bool) -> OpenedJob | None:
    """Open the database of a crawl and import its baseline; None if it needs no database.

    `needed`: use a temporary database if there is no JOBDIR. Raises StoreError or ValueError, one line.
    """
    folder = folder_of(settings)
    if params.fresh and folder is None:
        raise ValueError("argument fresh='yes': there is no job to discard; accepted: with the setting JOBDIR")
    try:
        return _opened(settings, params, folder, needed)
    except OSError as error:
        raise StoreError(f"{error.filename or 'JOBDIR'} cannot be used: {in_words(error)}") from None


def _opened(settings: BaseSettings, params: Arguments, folder: Path | None, needed: bool) -> OpenedJob | None:
    stores, finished = settings.getbool("SITEMAP_STORE"), None if params.fresh else _finished(folder)
    # a site that could not be read may answer by now
    fresh = params.fresh or (finished is not None and not finished.get("urls"))
    goes_on = finished is not None and not fresh
    given = params.as_dict()
    if given.get(SAMPLE, "").endswith("%"):  # drawn while files are read
        del given[SAMPLE]
    for name in NEEDING:
        if name in given and not stores and not goes_on:
            raise ValueError(f"argument {name}={given[name]!r}: needs a database; accepted: SITEMAP_STORE=True")
    needed |= not given.keys().isdisjoint((*NEEDING, "report")) or holds(settings, AlternateRecord)
    if folder is None and not (stores and needed):
        return None
    if folder is not None and not goes_on:
        _refuse_itself(folder, params)
    with ExitStack() as undoing:
        if folder is not None and fresh:
            _keep_in_history(folder, params)
            undoing.enter_context(_put_aside(folder))
        if folder is not None:
            undoing.enter_context(_unmade(folder))
        store = _temporary(params) if folder is None else _open(folder, params, fresh)
        if folder is not None and fresh:
            _take_contents(store, folder)
        try:
            compared = None if store.get("state") == FINISHED else _comparison(store, params)
        except StoreError:
            store.close()
            raise
        except duckdb.Error as error:
            store.close()
            raise refusal(store.path, error) from None
    if folder is not None and fresh:
        _set_cache_aside(folder)
    return OpenedJob(
        store,
        folder,
        compared,
        params.only is not None,
        params.report is not None,
        params.findings is not None,
        _earlier_runs(folder, compared, params),
        params.segments,
        params.policy,
    )


def _keep_in_history(folder: Path, params: Arguments) -> None:
    """Add the run of a finished job to its history before its database is discarded, in case the run could not."""
    try:
        runs = history.run_of_job(check(folder / FILE), params.of_comparison)
        known = history.read(folder)
        if runs and runs[0].started not in {run.started for run in known}:
            history.write(folder, [*known, *runs])
    except (StoreError, OSError):  # a database that is missing, damaged or in use; nothing is lost but a row
        pass


def _earlier_runs(folder: Path | None, compared: Comparison | None, params: Arguments) -> list[Run]:
    """Runs in the history of the job and of its baseline."""
    own = history.read(folder) if folder is not None else []
    if compared is None:
        return own
    path = Path(params.baseline or "")
    before = history.read(path if path.is_dir() else path.parent)
    return history.merged(before, history.run_of_job(compared.baseline.job, params.of_comparison), own)


@contextmanager
def _put_aside(folder: Path) -> Iterator[None]:
    """Remove the database of a job, unless the block raises an error. Raises StoreError if a crawl uses it."""
    path = folder / FILE
    _check_free(path)
    _check_writable(folder)
    # The log first and back last: DuckDB must never find a log alone.
    moved = [(part, part.with_name(f"{part.name}{ASIDE}")) for part in (path.with_name(f"{path.name}.wal"), path)]
    try:
        for part, aside in moved:
            aside.unlink(missing_ok=True)
            if part.exists():
                part.replace(aside)
    except OSError as error:
        raise StoreError(f"{path} cannot be removed: {in_words(error)}") from None
    try:
        yield
    except BaseException:
        for part, aside in reversed(moved):
            if aside.exists():
                aside.replace(part)
        raise
    for _, aside in moved:
        aside.unlink(missing_ok=True)


def _discarded(folder: Path) -> Path:
    """The database that `fresh` replaces."""
    return folder / f"{FILE}{ASIDE}"


def _take_contents(store: Store, folder: Path) -> None:
    """Keep what the discarded database knows of the content of pages."""
    if (discarded := _discarded(folder)).exists():
        with suppress(duckdb.Error, StoreError):  # a damaged one, or one of another version
            check(discarded)
            content_history.take_over(store, discarded)


def _set_cache_aside(folder: Path) -> None:
    """Keep the bodies of a discarded job apart, so that the new one keeps only those that it requests too."""
    with suppress(OSError):  # costs disk space only
        if (folder / CACHE).is_dir():
            shutil.rmtree(folder / EARLIER_CACHE, ignore_errors=True)
            (folder / CACHE).rename(folder / EARLIER_CACHE)


@contextmanager
def _unmade(folder: Path) -> Iterator[None]:
    """Remove what the block creates in the folder of a job if it raises an error."""
    had_folder, had_database = folder.exists(), (folder / FILE).exists()
    try:
        yield
    except BaseException:
        if not had_database and (folder / FILE).exists():
            _remove(folder / FILE)
        if not had_folder:
            with suppress(OSError):
                folder.rmdir()
        raise


def folder_of(settings: BaseSettings) -> Path | None:
    """Folder of the job, None without one. Raises ValueError if it cannot be used."""
    folder = settings.get("SITEMAP_JOBDIR") or settings.get("JOBDIR")
    if folder and not settings.getbool("SITEMAP_STORE"):
        raise ValueError(f"setting JOBDIR={str(folder)!r}: a job needs its database; accepted: SITEMAP_STORE=True")
    if folder and urls.has_scheme(str(folder)):
        raise ValueError(f"setting JOBDIR={str(folder)!r}: accepted: a local folder")
    if folder and ODD_CHARACTERS.intersection(str(folder)):
        raise ValueError(f"setting JOBDIR={str(folder)!r}: accepted: a path without {' and '.join(ODD_CHARACTERS)}")
    return Path(folder) if folder else None


def _temporary(params: Arguments) -> Store:
    try:
        return Store.temporary(_beside(params))
    except (OSError, duckdb.Error) as error:
        raise StoreError(f"no temporary database can be made: {in_words(error)}") from None


def _comparison(store: Store, params: Arguments) -> Comparison | None:
    return Comparison(store, params) if params.baseline is not None else None


def _refuse_itself(folder: Path, params: Arguments) -> None:
    """Raise StoreError if a job would be compared with itself."""
    path = folder / FILE
    if params.baseline is not None and path.exists() and path.samefile(params.baseline):
        raise StoreError(f"baseline {path} is the database of this job itself; use another JOBDIR")


def _open(folder: Path, params: Arguments, fresh: bool) -> Store:
    if (folder / FILE).exists():
        job = check(folder / FILE)
        if job.get("run") is None:  # created, but never started
            _remove(folder / FILE)
        else:
            _compare(folder, job["arguments"], params, job.get("state") == FINISHED)
    return Store.open(folder, [*_beside(params), *([_discarded(folder)] if fresh else [])])


def _beside(params: Arguments) -> list[Path]:
    """The files of the baseline, as far as it has them."""
    if params.baseline is None:
        return []
    path = Path(params.baseline)
    return [path, findings_of(path), robots_of(path), path.with_name(CONTENTS)]


def _finished(folder: Path | None) -> JsonObject | None:
    """The summary of the job if it is finished, whatever its baseline."""
    path = (folder or Path()) / FILE
    job = check(path) if folder is not None and path.exists() else {}
    return job.get("summary") if job.get("state") == FINISHED else None


def _compare(folder: Path, earlier: dict[str, str], params: Arguments, finished: bool) -> None:
    """Raise StoreError if the job was started with other arguments. The baseline of a finished job may have changed
    meanwhile."""
    now, free = params.asks_for(), params.of_comparison if finished and "baseline" in earlier else frozenset()
    for name in sorted((earlier.keys() | now.keys()) - free):
        before, after = earlier.get(name), now.get(name)
        if before != after:
            was, given = ("without it" if value is None else f"with {value!r}" for value in (before, after))
            raise StoreError(
                f"argument {name}: the job in {folder} was started {was}, now it is {given}; "
                "give the same arguments, fresh=yes to start over, or another JOBDIR"
            )


def _check_free(path: Path) -> None:
    """Raise StoreError if another crawl uses the database. Ignores all other problems."""
    if not path.exists():
        return
    try:
        duckdb.connect(path, read_only=True, config=CONFIG).close()
    except (OSError, duckdb.Error) as error:
        if is_locked(error):
            raise refusal(path, error) from None


def _check_writable(folder: Path) -> None:
    """Raise StoreError if files cannot be created in a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StoreError(f"{folder} cannot be written to: {in_words(error)}") from None


def _remove(path: Path) -> None:
    """Remove a database. Raises StoreError if a crawl uses it."""
    _check_free(path)
    for part in (path.with_name(f"{path.name}.wal"), path):  # in this order: DuckDB must never find a log alone
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{part} cannot be removed: {in_words(error)}") from None
