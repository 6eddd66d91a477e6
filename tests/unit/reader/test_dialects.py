"""Names of months and weekdays, against what people write in each language (facts as in CLDR)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from sitemapcrawler.reader.dates import DIALECTS, MONTH_NAMES, MONTHS, WEEKDAY_NAMES, WEEKDAYS, dialect, simplified, utc

# `-` stands for a month whose name means another one in a neighbouring language.
LANGUAGES = {
    "English": "January February March April May June July August September October November December",
    "German": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "French": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "Portuguese": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "Italian": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "Dutch": "januari februari maart april mei juni juli augustus september oktober november december",
    "Polish": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października - grudnia",
    "Russian": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "Ukrainian": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "Swedish": "januari februari mars april maj juni juli augusti september oktober november december",
    "Danish": "januar februar marts april maj juni juli august september oktober november december",
    "Norwegian": "januar februar mars april mai juni juli august september oktober november desember",
    "Finnish": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta "
    "lokakuuta marraskuuta joulukuuta",
    "Turkish": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
    "Czech": "ledna února března dubna května června července - září října - prosince",
    "Slovak": "januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra",
    "Croatian": "siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna - studenoga prosinca",
    "Hungarian": "január február március április május június július augusztus szeptember október november december",
    "Romanian": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "Greek": "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου "
    "Νοεμβρίου Δεκεμβρίου",
}
ABBREVIATIONS = {
    "English": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "German": "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
    "French": "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "Spanish": "ene feb mar abr may jun jul ago sept oct nov dic",
    "Portuguese": "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
    "Italian": "gen feb mar apr mag giu lug ago set ott nov dic",
    "Dutch": "jan feb mrt apr mei jun jul aug sep okt nov dec",
    "Polish": "sty lut mar kwi maj cze - sie wrz paź - gru",
    "Russian": "янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек.",
    "Turkish": "Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara",
}
WEEKS = {
    "English": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "English, short": "Mon Tue Wed Thu Fri Sat Sun",
    "German": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "French": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "Spanish": "lunes martes miércoles jueves viernes sábado domingo",
    "Portuguese": "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    "Russian": "понедельник вторник среда четверг пятница суббота воскресенье",
    "Turkish": "Pazartesi Salı Çarşamba Perşembe Cuma Cumartesi Pazar",
}


@pytest.mark.parametrize("names", [MONTH_NAMES, WEEKDAY_NAMES], ids=["months", "weekdays"])
def test_no_name_means_two_things(names: str) -> None:
    meanings: dict[str, set[int]] = {}
    for number, paragraph in enumerate(names.split("\n\n")):
        for name in paragraph.split():
            meanings.setdefault(simplified(name), set()).add(number)
    assert {name: numbers for name, numbers in meanings.items() if len(numbers) > 1} == {}
    assert len(meanings) > 300


def test_months_and_weekdays_are_all_there() -> None:
    assert set(MONTHS.values()) == set(range(1, 13))
    assert set(WEEKDAYS.values()) == set(range(7))


@pytest.mark.parametrize("name", ["listopad", "listopada", "listopadu", "lis", "lip", "srp", "srpen", "srpna"])
def test_a_name_of_different_months_is_no_month(name: str) -> None:
    assert name not in MONTHS
    assert utc(f"5 {name} 2024") is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "form", ["5 {} 2024", "5. {} 2024", "5 de {} de 2024", "{} 5, 2024", "2024. {} 5.", "5-{}-2024"]
)
def test_month_written_out(language: str, form: str) -> None:
    assert_months(LANGUAGES[language].split(), form)


@pytest.mark.parametrize("language", ABBREVIATIONS)
@pytest.mark.parametrize("form", ["5 {} 2024", "5 de {} de 2024", "{} 5, 2024", "5 {} 2024 г."])
def test_month_abbreviated(language: str, form: str) -> None:
    assert_months(ABBREVIATIONS[language].split(), form)


def test_month_in_capitals_and_without_accents() -> None:
    for name in ("FÉVRIER", "Fevrier", "fe\u0301vrier", "ŞUBAT", "subat"):
        assert utc(f"5 {name} 2024") == "2024-02-05T00:00:00Z", name
    assert utc("5 KASIM 2024") == utc("5 kasım 2024") == "2024-11-05T00:00:00Z"


@pytest.mark.parametrize("language", WEEKS)
def test_weekday_is_checked_against_the_date(language: str) -> None:
    monday = date(2024, 4, 1)
    for number, name in enumerate(WEEKS[language].split()):
        for day in range(7):
            text = f"{name}, {(monday + timedelta(day)).day} April 2024"
            assert utc(text) == (f"2024-04-{1 + day:02}T00:00:00Z" if day == number else None), text


def test_the_word_before_a_date_is_a_weekday_or_the_date_is_none() -> None:
    assert utc("Mar. 12 mars 2024") == "2024-03-12T00:00:00Z"
    assert utc("Updated 12 March 2024") is None
    assert utc("So., 7. Januar 2024") is None


def test_every_dialect_has_a_name_of_its_own_kind() -> None:
    assert {name for name, _ in DIALECTS} == {
        *("iso", "xsd-date", "compact", "epoch", "rfc2822", "rfc850", "asctime"),
        *("slashes", "dots", "cjk", "month-name"),
    }
    assert dialect("5 mai 2024") == "month-name"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (" 2024-05-01\u00a0 10:00\t", "2024-05-01 10:00"),
        ("\ufeff\u200e1\u200e/2", "1/2"),
        ("Ağustos", "agustos"),
        ("İYUL", "iyul"),
        ("sierpień, łódź", "sierpien, lodz"),
        ("5 d\u2019abril", "5 d'abril"),
        ("2024년", "2024년"),
        ("１²", "１²"),
    ],
)
def test_simplified(text: str, plain: str) -> None:
    assert simplified(text) == plain


def assert_months(names: list[str], form: str) -> None:
    """Each name gives its month, `-` stands for one left out."""
    assert len(names) == 12
    for month, name in enumerate(names, 1):
        if name != "-":
            text = form.format(name)
            assert utc(text) == f"2024-{month:02}-05T00:00:00Z", text
