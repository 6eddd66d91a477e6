"""Parses dates as sitemaps and feeds write them: W3C Datetime, and unambiguous dialects of the web.

A missing month, day or time defaults to the first; a missing zone to UTC.
"""

# ruff: noqa: RUF001 - Greek and Cyrillic names have letters that look like Latin ones

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\ufeff"))
"""Zero-width space, the direction marks that some browsers write, and byte order mark."""
LETTERS = str.maketrans({"ı": "i", "ł": "l", "\u2019": "'"})
"""Characters that Unicode does not decompose -> their plain form."""


def simplified(text: str) -> str:
    """Return `text` in lower case, without accents and invisible characters, and with single blanks."""
    text = " ".join(text.translate(INVISIBLE).split()).casefold()
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.translate(LETTERS))
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not unicodedata.combining(letter)))


MONTH_NAMES = """\
jan january januar januari januarie januara janvier janv enero ene janeiro gennaio gen gener janner stycznia styczen sty
января январь янв січня січень січ студзеня студзень сту јануар јануари јан януари яну ocak oca ledna leden led ianuarie
ian sijecnja sijecanj sij tammikuuta tammikuu tammi ιανουαριου ιανουαριος ιαν sausio sausis saus janvaris jaanuar jaan
xaneiro xan

feb february februar februari februarie februara fevrier fevr febrero fevereiro fev febbraio febrer febr lutego luty lut
февраля февраль февр фев лютого лютий лют лютага люты фебруар феб февруари subat sub unora unor uno veljace veljaca velj
helmikuuta helmikuu helmi φεβρουαριου φεβρουαριος φεβ vasario vasaris vas februaris veebruar veebr febreiro

mar march marz maerz mars marzo marco maart mrt marca marec marzec марта март мар березня березень бер сакавіка сакавік
сак marts mart brezna brezen bre marcius marc martie ozujka ozujak ozu maaliskuuta maaliskuu maalis μαρτιου μαρτιος μαρ
kovo kovas kov maret mac

apr april avril avr abril abr aprile kwietnia kwiecien kwi апреля апрель апр квітня квітень квіт красавіка красавік кра
април nisan nis dubna duben dub aprila aprilis aprilie travnja travanj tra huhtikuuta huhtikuu huhti απριλιου απριλιος
απρ balandzio balandis bal aprill

may mai mayo maio maggio mag mei maja maj мая май травня травень трав мај mayis kvetna kveten kve majus svibnja svibanj
svi toukokuuta toukokuu touko μαιου μαιος μαι geguzes geguze geg maijs maig

jun june juni juin junio junho giugno giu czerwca czerwiec cze июня июнь июн червня червень черв чэрвеня чэрвень чэр јун
јуни юни haziran haz cervna cerven cvn juna junius iunie iun lipnja lipanj junij kesakuuta kesakuu kesa ιουνιου ιουνιος
ιουν birzelio birzelis birz junijs juuni juny xuno

jul july juli juillet juil julio julho luglio lug lipca lipiec июля июль июл липня липень лип ліпеня ліпень ліп јул јули
юли temmuz tem cervence cervenec cvc jula julius iulie iul srpnja srpanj julij heinakuuta heinakuu heina ιουλιου ιουλιος
ιουλ liepos liepa liep julijs juuli juliol xullo xul julai

aug august aout agosto ago augustus augusti sierpnia sierpien sie августа август авг серпня серпень серп жніўня жнівень
жні agustos agu augusta augusztus kolovoza kolovoz kol avgust avg elokuuta elokuu elo αυγουστου αυγουστος αυγ rugpjucio
rugpjutis rugp augusts agost ag agustus ogos ogo

sep sept september septembre septiembre setembro set settembre wrzesnia wrzesien wrz сентября сентябрь сент вересня
вересень вер верасня верасень септембар сеп септември eylul eyl zari zar septembra szeptember szept septembrie rujna
rujan ruj syyskuuta syyskuu syys σεπτεμβριου σεπτεμβριος σεπ rugsejo rugsejis rugs septembris setembre

oct october oktober okt octobre octubre outubro out ottobre ott pazdziernika pazdziernik paz октября октябрь окт жовтня
жовтень жовт кастрычніка кастрычнік кас октобар октомври ekim eki rijna rijen rij oktobra octombrie lokakuuta lokakuu
loka οκτωβριου οκτωβριος οκτ spalio spalis spal oktobris oktoober

nov november novembre noviembre novembro ноября ноябрь нояб листопада листопад лист лістапада лістапад ліс новембар нов
ноември ное kasim kas novembra noiembrie studenoga studeni stu marraskuuta marraskuu marras νοεμβριου νοεμβριος νοε
lapkricio lapkritis lapkr novembris

dec december dezember dez decembre diciembre dic dezembro dicembre grudnia grudzien gru декабря декабрь дек грудня
грудень груд снежня снежань сне децембар дец декември aralik ara prosince prosinec prosinca prosinac pro desember des
decembra decembrie joulukuuta joulukuu joulu δεκεμβριου δεκεμβριος δεκ gruodzio gruodis gruod decembris detsember dets
desembre decembro disember dis
"""
"""A paragraph per month: its full and short names from CLDR for English, German, French, Spanish, Portuguese, Italian,
Dutch, Polish, Russian, Ukrainian, Belarusian, Serbian, Macedonian, Bulgarian, the Nordic and Baltic languages, Turkish,
Czech, Slovak, Hungarian, Romanian, Croatian, Slovene, Greek, Catalan, Galician, Indonesian and Malay. Names that mean
different months in two languages, or nearly so, are omitted: listopad, lis, lip, srp, srpen."""
MONTHS = {simplified(name): month for month, names in enumerate(MONTH_NAMES.split("\n\n"), 1) for name in names.split()}

WEEKDAY_NAMES = """\
monday mon montag mo lundi lun lunes lunedi luni dilluns segunda-feira segunda seg maandag ma poniedzialek понедельник
пн понеділок панядзелак понедељак понеделник пон måndag mån mandag man pazartesi pzt pondeli po pondelok hetfo
ponedjeljak ponedeljek pon maanantai maanantaina δευτερα δευ pirmadienis pirmdiena esmaspaev luns senin sen isnin

tuesday tue tues dienstag di mardi mar martes martedi marti dimarts terca-feira terca ter dinsdag wtorek wt вторник вт
вівторок ауторак уторак tisdag tis tirsdag tir sali sal utery ut utorok kedd utorak uto torek tiistai tiistaina ti τριτη
τρι antradienis otrdiena teisipaev selasa sel вто уто

wednesday wed mittwoch mi mercredi mer miercoles mie mercoledi miercuri mercores dimecres quarta-feira quarta qua
woensdag wo sroda sr среда ср середа серада onsdag ons carsamba car streda szerda srijeda sri sreda sre keskiviikko
keskiviikkona ke τεταρτη τετ treciadienis tresdiena kolmapaev rabu rab сре сряда sze

thursday thu thur thurs donnerstag do jeudi jeu jueves jue giovedi gio joi dijous quinta-feira quinta qui donderdag
czwartek czw четверг чт четвер чацвер четвртак четврток четвъртък torsdag tors persembe per ctvrtek ct stvrtok csutortok
cetvrtak cet cetrtek torstai torstaina πεμπτη πεμ ketvirtadienis ceturtdiena neljapaev xoves kamis kam khamis чет чц

friday fri freitag fr vendredi ven viernes vie venerdi vineri divendres sexta-feira sexta sex vrijdag vr piatek pt
пятница пт п'ятниця пʼятниця пятніца петак петок петък fredag fre cuma cum patek pa piatok pi pentek petak pet petek
perjantai perjantaina pe παρασκευη παρ penktadienis piektdiena reede venres jumat jum jumaat пет vin

saturday sat samstag sonnabend sa samedi sam sabado sab sabato sambata dissabte zaterdag za sobota sob суббота сб субота
lördag lör lørdag lør cumartesi cmt szombat subota sub lauantai lauantaina la σαββατο σαβ sestadienis sestdiena laupaev
sabtu саб суб сабота събота szo

sunday sun sonntag dimanche dim domingo dom domenica duminica diumenge zondag zo niedziela воскресенье вс неділя нядзеля
недеља недела неделя söndag sön søndag søn pazar paz nedele ne nedela vasarnap nedjelja ned nedelja sunnuntai
sunnuntaina su κυριακη κυρ sekmadienis svetdiena puhapaev minggu min ahad нед нд dum niedz
"""
"""A paragraph per weekday, Monday first, in the same languages. Ambiguous names are omitted: single letters, `so`
(Sunday in German, Saturday in Czech), `st` and `tor`."""
WEEKDAYS = {
    simplified(name): weekday for weekday, names in enumerate(WEEKDAY_NAMES.split("\n\n")) for name in names.split()
}
"""Numbered as by `datetime.date.weekday`."""

ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3,
    "jst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
}  # fmt: skip
"""Unambiguous zone names -> offsets from UTC, in hours. Source: https://data.iana.org/time-zones/tzdb/"""
RFC2822_ZONES = {
    **ZONES, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    "akst": -9, "akdt": -8, "hst": -10, "bst": 1,
}  # fmt: skip
"""Zone names that are unambiguous only in RFC 2822 (4.3), or with English names of months: CST is China's zone too, BST
that of Bangladesh. Military letters are omitted: they were used with either sign, so RFC 2822 reads them as UTC."""

NUMBER = "[0-9]{1,2}"
YEAR = r"(?P<year>[0-9]{4})"
SHORT_YEAR = r"(?P<year>[0-9]{2,4})"
MONTH = rf"(?P<month>{NUMBER})"
DAY = rf"(?P<day>{NUMBER})"
NTH = rf"{DAY}(?:st|nd|rd|th|er|[º°ª.])?"
NAME = r"(?P<name>[^\W\d_]+)\.?"
ENGLISH = r"(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
WHOLE_ENGLISH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
"""The same with full names, which many feeds write although RFC 2822 allows only short ones."""
WEEKDAY = r"(?P<weekday>(?:[^\W\d_]|')+(?:-feira)?)\.?(?:, ?| )(?:den )?"
GAP = r"(?:[-/.,] ?| )"
OF = r"(?:of |de |del |do |d')?"
OFFSET = r"(?P<offset>[+-][0-9]{2}(?::?[0-9]{2})?)"
NO_RANGE = "(?(second)|(?!-[0-9]{2}:))"
"""`10:00-12:00` may be the hours of an event, not a time and an offset."""
ZONE = rf"(?: ?(?:(?:utc|gmt) ?|{NO_RANGE}){OFFSET}| ?(?P<zone>{'|'.join(ZONES)}))"
RFC2822_ZONE = rf" ?(?:{NO_RANGE}{OFFSET}|(?P<rfc2822_zone>{'|'.join(RFC2822_ZONES)}))"
AMERICAN_ZONE = rf" ?(?P<rfc2822_zone>{'|'.join(sorted(RFC2822_ZONES.keys() - ZONES.keys()))})"
REGION = r"(?: ?\[[^\[\]]+\])?"
REMARK = r"(?: ?\([^()]*\))?"
FRACTION = r"(?:[.,](?P<fraction>[0-9]+))?"
CLOCK = rf"(?P<hour>{NUMBER}):(?P<minute>[0-9]{{2}})(?::(?P<second>[0-9]{{2}}){FRACTION})?"
HALF = r"(?: ?(?P<half>[ap])\.? ?m\.?)?"
TIME = rf"{CLOCK}{HALF}(?: uhr)?(?:{ZONE}{REGION}{REMARK})?"
AT = r"(?: ?t ?|,? (?:(?:at|um|om|a|as|a las|alle|alle ore|kl\.?|klo|la|v|u|o|ob|в|о) )?)"
"""Separator of date and time."""
LATER = rf"(?:{AT}{TIME})?"
COMPACT_TIME = rf"(?P<hour>[0-9]{{2}})(?P<minute>[0-9]{{2}})(?:(?P<second>[0-9]{{2}}){FRACTION})?{ZONE}?"
DAY_AND_HOUR = "(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[01][0-9]|2[0-3])"
"""Ten digits that may also be year, month, day and hour."""

PATTERNS = (
    # A dialect may have several patterns. `one` and `other` are day and month in an order that only the values decide.
    ("iso", rf"{YEAR}-{MONTH}-{DAY}{LATER}"),
    ("xsd-date", rf"{YEAR}-{MONTH}-{DAY}(?:z|(?P<offset>[+-][0-9]{{2}}:[0-9]{{2}}))"),
    ("compact", rf"{YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})(?:(?: ?t ?|(?= ?[0-9]{{6}}) ?){COMPACT_TIME})?"),
    ("epoch", rf"(?!{DAY_AND_HOUR}\b)(?P<epoch>[0-9]{{10}})(?:\.(?P<fraction>[0-9]+))?"),
    ("epoch", r"(?P<epoch>[0-9]{10})(?P<fraction>[0-9]{3})"),
    ("rfc2822", rf"(?:{WEEKDAY})?{DAY} {ENGLISH} {SHORT_YEAR} {CLOCK}{RFC2822_ZONE}{REMARK}"),
    ("rfc850", rf"{WEEKDAY}{DAY}-{ENGLISH}-(?P<year>[0-9]{{2}}) {CLOCK}{RFC2822_ZONE}"),
    ("asctime", rf"{WEEKDAY}{ENGLISH} {DAY} {CLOCK}{ZONE}? {YEAR}"),
    ("slashes", rf"{YEAR}/{MONTH}/{DAY}{LATER}"),
    ("slashes", rf"(?P<one>{NUMBER})(?P<slash>[-/])(?P<other>{NUMBER})(?P=slash){YEAR}{LATER}"),
    ("dots", rf"{YEAR}\. ?{MONTH}\. ?{DAY}\.?{LATER}"),
    ("dots", rf"{DAY}\. ?{MONTH}\. ?{YEAR}\.?(?: г\.)?{LATER}"),
    ("cjk", rf"{YEAR} ?[年년] ?{MONTH} ?[月월] ?{DAY} ?[日일](?: ?{TIME})?"),
    # American zones only after English month names; elsewhere they may mean other zones.
    ("month-name", rf"(?:{WEEKDAY})?{NTH}{GAP}{WHOLE_ENGLISH}{GAP}{SHORT_YEAR},? {CLOCK}{HALF}{AMERICAN_ZONE}{REMARK}"),
    ("month-name", rf"(?:{WEEKDAY})?{WHOLE_ENGLISH}{GAP}{NTH}{GAP}{YEAR}{AT}{CLOCK}{HALF}{AMERICAN_ZONE}{REMARK}"),
    # RFC 2822, but with a full month name and a two-digit year.
    ("month-name", rf"{WEEKDAY}{DAY} {WHOLE_ENGLISH} (?P<year>[0-9]{{2}}) {CLOCK}{RFC2822_ZONE}{REMARK}"),
    ("month-name", rf"(?:{WEEKDAY})?{NTH}{GAP}{OF}{NAME}{GAP}{OF}{YEAR}(?: ?[гр]\.?|\.)?{LATER}"),
    ("month-name", rf"(?:{WEEKDAY})?{NAME}{GAP}{NTH}{GAP}{OF}{YEAR}{LATER}"),
    ("month-name", rf"{YEAR}(?: m\.)?{GAP}{NAME}{GAP}{NTH}(?: d\.)?{LATER}"),
    ("month-name", rf"{YEAR}(?:\. gada)?{GAP}{NTH}{GAP}{NAME}{LATER}"),
)
DIALECTS = [(name, re.compile(pattern)) for name, pattern in PATTERNS]
"""Name and pattern of each dialect, for `simplified` text. The first match decides."""


MAX_LENGTH = 100
"""Characters. Source: Yandex accepts 100 bytes, https://yandex.com/support/webmaster/en/controlling-robot/sitemap"""
FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Years accepted in dialects. Others are of another calendar (2567 Buddhist, 1403 Persian) or a program's zero."""
W3C = re.compile(
    r"\d{4}(?:-\d\d(?:-\d\d(?P<time>T(?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d+)?)?(?P<zone>Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)
"""Profiles of https://www.w3.org/TR/NOTE-datetime, with the zone optional because many sitemaps omit it."""
PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?", re.ASCII)
"""Shapes that nearly all sitemaps use."""
SPACED = re.compile(r"(?:19|20)\d\d-\d\d-\d\d (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d", re.ASCII)
"""The most frequent other shape: that of SQL."""
FARTHEST_ZONE = 14 * 60
"""Largest offset from UTC, in minutes. Source: XML Schema, part 2, 3.2.7.3"""
NEW_YEAR = "0000-01-01"
MICROSECONDS = 6
DATE_LENGTH = len("2024-05-01")
ZONE_AT = len("2024-05-01T10:00:00")
NO_HOUR = "T24"
"""Hour that W3C Datetime forbids, but `datetime` accepts since Python 3.13."""


def utc(value: str) -> str | None:
    """Convert a date to ISO 8601 in UTC (`2024-05-01T10:00:00Z`); None if it is invalid or ambiguous."""
    if PLAIN.fullmatch(value):
        return utc_of_plain(value)
    if SPACED.fullmatch(value):
        try:
            return f"{datetime.fromisoformat(value).isoformat()}Z"
        except ValueError:
            return None
    moment = parse(value)
    return None if moment is None else iso(moment)


def iso(moment: datetime) -> str:
    """Format a moment as ISO 8601 in UTC, with fractions of a second only if not zero."""
    return moment.astimezone(UTC).isoformat()[: -len("+00:00")] + "Z"


def utc_of_plain(value: str) -> str | None:
    """Do the same as `utc` for a value known to be `YYYY-MM-DD`, or `YYYY-MM-DDThh:mm:ss` with a zone."""
    if NO_HOUR in value:
        return None
    try:
        if len(value) == DATE_LENGTH:
            datetime.fromisoformat(value)
            return value + "T00:00:00Z"
        if value[-1] == "Z":
            datetime.fromisoformat(value)
            return value
        local, zone = value[:ZONE_AT], value[ZONE_AT:]
        moment = datetime.fromisoformat(local)
        return local + "Z" if zone == "+00:00" else (moment - _plain_offset(zone)).isoformat() + "Z"
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=256)
def _plain_offset(zone: str) -> timedelta:
    """Return the offset of a zone such as `+02:00`. Cached for speed: a file has one or two of them."""
    return _offset({"offset": zone})


def parse(value: str) -> datetime | None:
    """Parse a date to a datetime in UTC; None if it is invalid or ambiguous."""
    found = _read(value)
    return None if found is None else found[1]


def dialect(value: str) -> str | None:
    """Return how a date is written: `w3c`, `w3c-no-zone` or a name in `DIALECTS`; None if `parse` returns None."""
    found = _read(value)
    return None if found is None else found[0]


def _read(value: str) -> tuple[str, datetime] | None:
    if len(value) > MAX_LENGTH:
        return None
    try:
        return _w3c(value.strip()) or _other(simplified(value))
    except (ValueError, LookupError, OverflowError):
        return None


def _w3c(value: str) -> tuple[str, datetime] | None:
    match = W3C.fullmatch(value)
    if match is None:
        return None
    if match["zone"] not in (None, "Z"):
        _offset({"offset": match["zone"]})
    moment = datetime.fromisoformat(value + NEW_YEAR[len(value) :])
    if moment.tzinfo is not None:
        return "w3c", moment.astimezone(UTC)
    return "w3c-no-zone" if match["time"] else "w3c", moment.replace(tzinfo=UTC)


def _other(text: str) -> tuple[str, datetime] | None:
    for name, pattern in DIALECTS:
        match = pattern.fullmatch(text)
        if match is not None:
            return name, _moment({part: found for part, found in match.groupdict().items() if found is not None})
    return None


def _moment(written: Mapping[str, str]) -> datetime:
    """Build the datetime from the groups of a pattern. Raises ValueError or LookupError if there is none."""
    if "epoch" in written:
        return _since_epoch(int(written["epoch"])) + _fraction(written)
    local = datetime.combine(_date(written), _time(written), UTC)
    return local + _fraction(written) - _offset(written)


def _since_epoch(seconds: int) -> datetime:
    moment = datetime.fromtimestamp(seconds, UTC)
    if moment.year > LAST_YEAR:
        raise ValueError("too far in the future for a time stamp")
    return moment


def _fraction(written: Mapping[str, str]) -> timedelta:
    digits = written.get("fraction", "")[:MICROSECONDS]
    return timedelta(microseconds=int(digits.ljust(MICROSECONDS, "0")))


def _date(written: Mapping[str, str]) -> date:
    month, day = _month_and_day(written)
    found = date(_year(written["year"]), month, day)
    if "weekday" in written and WEEKDAYS[written["weekday"]] != found.weekday():
        raise ValueError("a date on another weekday")
    return found


def _year(digits: str) -> int:
    """Return the year. Two or three digits, which only RFC 2822 and RFC 850 allow, are read by RFC 2822, 4.3."""
    year = int(digits)
    if len(digits) < len("2024"):
        year += 2000 if len(digits) == len("24") and year < 50 else 1900
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError("no year of today's calendar")
    return year


def _month_and_day(written: Mapping[str, str]) -> tuple[int, int]:
    if "name" in written:
        return MONTHS[written["name"]], int(written["day"])
    if "month" in written:
        return int(written["month"]), int(written["day"])
    one, other = int(written["one"]), int(written["other"])
    if one == other or other > 12:
        return one, other
    if one > 12:
        return other, one
    raise ValueError("either may be the day")


def _time(written: Mapping[str, str]) -> time:
    hour = int(written.get("hour", 0))
    if "half" in written:
        if not 1 <= hour <= 12:
            raise ValueError("no hour of half a day")
        hour = hour % 12 + (12 if written["half"] == "p" else 0)
    return time(hour, int(written.get("minute", 0)), int(written.get("second", 0)))


def _offset(written: Mapping[str, str]) -> timedelta:
    if "rfc2822_zone" in written:
        return timedelta(hours=RFC2822_ZONES[written["rfc2822_zone"]])
    if "offset" not in written:
        return timedelta(hours=ZONES[written.get("zone", "z")])
    digits = written["offset"][1:].replace(":", "")
    minutes = int(digits[2:] or 0)
    if minutes > 59 or int(digits[:2]) * 60 + minutes > FARTHEST_ZONE:
        raise ValueError("no such offset")
    return timedelta(hours=int(digits[:2]), minutes=minutes) * (-1 if written["offset"][0] == "-" else 1)
