# ruff: noqa: RUF001 - names in Greek and Cyrillic letters look like Latin ones
"""The ways in which dates are written on the web, as data: patterns, and the names of months, weekdays and zones.

A table and no library: python-dateutil and dateparser guess where day and month may be swapped (`01/02/2024`), Babel
has to be told the language, and here a date that might be another one is none.
"""

from __future__ import annotations

import re
import unicodedata

FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Years taken from the dialects. Others are of another calendar (2567 Buddhist, 1403 Persian) or a program's zero."""
INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\ufeff"))
"""Zero-width space, direction marks (in what some browsers write) and byte order mark."""
LETTERS = str.maketrans({"ı": "i", "ł": "l", "’": "'"})
"""Letters that Unicode does not decompose, as people without them on their keyboard write them."""


def simplified(text: str) -> str:
    """`text` in lower case, without accents and invisible characters, and with single blanks only."""
    text = " ".join(text.translate(INVISIBLE).split()).casefold()
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.translate(LETTERS))
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def numbered(paragraphs: str, first: int) -> dict[str, int]:
    """Number of the paragraph by each word in it."""
    return {
        simplified(word): number
        for number, words in enumerate(paragraphs.split("\n\n"), first)
        for word in words.split()
    }


MONTHS = numbered(
    """\
jan january januar januari januarie januara janvier janv enero ene janeiro gennaio gen gener jenner janner stycznia
styczen sty января январь янв січня січень січ студзеня студзень сту јануар јануари јан януари яну ocak oca ledna leden
led ianuarie ian siecnja sijecnja sijecanj sij tammikuuta tammikuu tammi ιανουαριου ιανουαριος ιαν sausio sausis saus
janvaris jaanuar jaan xaneiro xan

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
""",
    first=1,
)
"""Month by name, whole and short, as CLDR has them for English, German, French, Spanish, Portuguese, Italian, Dutch,
Polish, Russian, Ukrainian, Belarusian, Serbian, Macedonian, Bulgarian, the Nordic and Baltic languages, Turkish, Czech,
Slovak, Hungarian, Romanian, Croatian, Slovene, Greek, Catalan, Galician, Indonesian and Malay. Left out are names that
mean different months in two of them or are too much like one that does: listopad, lis, lip, srp, srpen.
"""

WEEKDAYS = numbered(
    """\
monday mon montag mo lundi lun lunes lunedi luni dilluns segunda-feira segunda seg maandag ma poniedzialek понедельник
пн понеділок панядзелак понедељак понеделник пон måndag mån mandag man pazartesi pzt pondeli po pondelok hetfo
ponedjeljak ponedeljek pon maanantai maanantaina δευτερα δευ pirmadienis pirmdiena esmaspaev luns senin sen isnin

tuesday tue tues dienstag di mardi mar martes martedi marti dimarts terca-feira terca ter dinsdag wtorek wt вторник вт
вівторок ауторак уторак tisdag tis tirsdag tir sali sal utery ut utorok kedd utorak uto torek tiistai tiistaina ti τριτη
τρι antradienis otrdiena teisipaev selasa sel

wednesday wed mittwoch mi mercredi mer miercoles mie mercoledi miercuri mercores dimecres quarta-feira quarta qua
woensdag wo sroda sr среда ср середа серада onsdag ons carsamba car streda szerda srijeda sri sreda sre keskiviikko
keskiviikkona ke τεταρτη τετ treciadienis tresdiena kolmapaev rabu rab

thursday thu thur thurs donnerstag do jeudi jeu jueves jue giovedi gio joi dijous quinta-feira quinta qui donderdag
czwartek czw четверг чт четвер чацвер четвртак четврток четвъртък torsdag tors persembe per ctvrtek ct stvrtok csutortok
cetvrtak cet cetrtek torstai torstaina πεμπτη πεμ ketvirtadienis ceturtdiena neljapaev xoves kamis kam khamis

friday fri freitag fr vendredi ven viernes vie venerdi vineri divendres sexta-feira sexta sex vrijdag vr piatek pt
пятница пт п'ятниця пʼятниця пятніца петак петок петък fredag fre cuma cum patek pa piatok pi pentek petak pet petek
perjantai perjantaina pe παρασκευη παρ penktadienis piektdiena reede venres jumat jum jumaat

saturday sat samstag sonnabend sa samedi sam sabado sab sabato sambata dissabte zaterdag za sobota sob суббота сб субота
lördag lör lørdag lør cumartesi cmt szombat subota sub lauantai lauantaina la σαββατο σαβ sestadienis sestdiena laupaev
sabtu

sunday sun sonntag dimanche dim domingo dom domenica duminica diumenge zondag zo niedziela воскресенье вс неділя нядзеля
недеља недела неделя söndag sön søndag søn pazar paz nedele ne nedela vasarnap nedjelja ned nedelja sunnuntai
sunnuntaina su κυριακη κυρ sekmadienis svetdiena puhapaev minggu min ahad
""",
    first=0,
)
"""Weekday by name in the same languages; a date that does not fall on its weekday is none. Left out are `so` (Sunday
in German, Saturday in Czech), `st` and `tor`, for the same reason."""

ZONES = {"z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3}
"""Offsets from UTC, in hours, of names that mean one zone only."""
RFC2822_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
"""Names that mean these zones by RFC 2822, 4.3, and elsewhere others (CST is China's too). The military letters, which
it reads as UTC since their sign is uncertain, are none here."""
