"""What a model must find in each language it is said to know: a person and an address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pipeline.redaction.canary import Canary
from pipeline.redaction.classes import ADDRESS, PERSON

BUNDLED_LANGUAGES: Final = ("de", "en", "es", "fr", "it", "nl", "pt")
"""Those the bundled model was made for; beside them it finds some names and misses others."""

_TEXTS = {
    "ar": ("تحدثت مع يوسف خليل عن المبلغ.", "يوسف خليل", "الشحنة إلى شارع النيل 7، القاهرة.", "شارع النيل 7"),
    "cs": ("Fakturu schválil Tomáš Dvořák.", "Tomáš Dvořák", "Pošlete to na Masarykova 28, Brno.", "Masarykova 28"),
    "da": ("Jeg talte med Henrik Poulsen.", "Henrik Poulsen", "Send det til Vestergade 7, Aarhus.", "Vestergade 7"),
    "de": ("Frag Jürgen Hoffmann.", "Jürgen Hoffmann", "Sie wohnt Lindenstraße 14, Köln.", "Lindenstraße 14"),
    "el": ("Μίλησα με τον Γιώργο Παππά.", "Γιώργο Παππά", "Στείλτε το στην οδό Ερμού 15, Αθήνα.", "Ερμού 15"),
    "en": ("Please ask Thomas Whitfield.", "Thomas Whitfield", "She lives at 27 Maple Road, Leeds.", "27 Maple Road"),
    "es": ("Hablé con Javier Morales ayer.", "Javier Morales", "Vive en la Calle Mayor 23, Madrid.", "Calle Mayor 23"),
    "fi": ("Laskun hyväksyi Juhani Mäkinen.", "Juhani Mäkinen", "Osoite on Hämeenkatu 5, Tampere.", "Hämeenkatu 5"),
    "fr": ("J'ai parlé avec Benoît Mercier.", "Benoît Mercier", "Elle habite au 12 rue des Lilas.", "12 rue des Lilas"),
    "he": ("דיברתי עם יעל כהן אתמול.", "יעל כהן", "שלח לרחוב הרצל 12, חיפה.", "הרצל 12"),
    "hi": ("मैंने अनिल शर्मा से बात की।", "अनिल शर्मा", "पता है 14 गांधी मार्ग, दिल्ली।", "14 गांधी मार्ग"),
    "hu": ("A számlát Kovács István hagyta jóvá.", "Kovács István", "A cím Petőfi utca 7, Győr.", "Petőfi utca 7"),
    "it": ("Ho parlato con Marco Bianchi.", "Marco Bianchi", "Abita in Via Garibaldi 18, Bologna.", "Via Garibaldi 18"),
    "ja": ("田中美咲さんに連絡してください。", "田中美咲", "住所は東京都渋谷区神南1-2-3です。", "神南1-2-3"),
    "ko": ("김민수 씨에게 연락해 주세요.", "김민수", "주소는 서울시 강남구 테헤란로 152입니다.", "테헤란로 152"),
    "nl": ("Stuur het naar Pieter Jansen.", "Pieter Jansen", "Zij woont op de Kerkstraat 21.", "Kerkstraat 21"),
    "no": ("Jeg snakket med Ola Nordmann.", "Ola Nordmann", "Adressen er Storgata 12, Bergen.", "Storgata 12"),
    "pl": ("Fakturę ma Krzysztof Zieliński.", "Krzysztof Zieliński", "Adres: ul. Długa 15, Kraków.", "Długa 15"),
    "pt": ("Falei com Tiago Carvalho ontem.", "Tiago Carvalho", "Ela mora na Rua das Flores 45.", "Rua das Flores 45"),
    "ro": ("Sună pe Andrei Popescu.", "Andrei Popescu", "Adresa este Strada Lungă 9, Brașov.", "Strada Lungă 9"),
    "ru": ("О возврате говорил Иван Соколов.", "Иван Соколов", "Адрес: улица Ленина, 15, Москва.", "улица Ленина, 15"),
    "sv": ("Jag pratade med Lars Holmgren.", "Lars Holmgren", "Hon bor på Storgatan 12, Göteborg.", "Storgatan 12"),
    "tr": ("Faturayı Mustafa Çelik onayladı.", "Mustafa Çelik", "Adres: Bağdat Caddesi 120.", "Bağdat Caddesi 120"),
    "uk": ("Рахунок погодив Андрій Шевченко.", "Андрій Шевченко", "Адреса: вулиця Франка, 8.", "вулиця Франка, 8"),
    "zh": ("请把报价转给李晓红。", "李晓红", "她住在北京市朝阳区建国路88号。", "建国路88号"),
}  # fmt: skip
KNOWN_LANGUAGES: Final = frozenset(_TEXTS)


def known_languages(text: str) -> tuple[str, ...]:
    """`en, pt, ja` as codes. Raises ValueError where no canary is written for one."""
    codes = tuple(sorted({code for part in text.split(",") if (code := part.strip().lower())}))
    if not codes or (unknown := sorted(set(codes) - KNOWN_LANGUAGES)):
        said = f"no canary is written for {', '.join(unknown)}" if codes else "no language is named"
        raise ValueError(f"{said}; there are canaries for {', '.join(sorted(KNOWN_LANGUAGES))}")
    return codes


def canaries(languages: Iterable[str]) -> tuple[Canary, ...]:
    """Two for each language; every one of them in KNOWN_LANGUAGES."""
    return tuple(canary for language in sorted(languages) for canary in _of(language))


def _of(language: str) -> tuple[Canary, Canary]:
    about_person, person, about_address, address = _TEXTS[language]
    return Canary(PERSON, about_person, person, language), Canary(ADDRESS, about_address, address, language)
