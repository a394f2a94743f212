"""Areas of high stakes in other languages: stems, since their words bend."""

from __future__ import annotations

AREAS: dict[str, tuple[str, ...]] = {
    "access": (
        r"\b(?:passwort\w*|kennwort\w*|zugangsdaten|anmeldedaten|zugangs(?:code|schlussel)\w*|geheimschlussel"
        r"|adminrecht\w*|mots? de passe|identifiants?"
        r"|cles? (?:api|d'acces|privees?)|contrasenas?|credenciales|claves? (?:de api|de acceso|privadas?)"
        r"|senhas?|credenciais|chaves? (?:de api|de acesso|privadas?)"
        r"|credenziali|chiav[ei] (?:api|di accesso|privat[ae])|wachtwoord\w*|inloggegevens|hasl[oa]\w*)\b",
        r"парол|учетн\S{0,3} данн|密码|密碼|口令|凭据|憑證|密钥|访问令牌|パスワード|認証情報|アクセスキー|秘密鍵"
        r"|비밀번호",
    ),
    "money": (
        r"\b(?:gehalt|gehalter|lohne?|rechnung(?:en)?|ruckerstattung\w*|uberweis\w*|kreditkarte\w*|bankkonto"
        r"|bankverbindung|darlehen|steuern?|schulden|honorar\w*"
        r"|salaires?|factures?|remboursements?|virements?|carte (?:bancaire|de credit)|compte bancaire|impots?"
        r"|dettes?"
        r"|salarios?|nominas?|facturas?|reembolsos?|transferencias? bancarias?|tarjetas? de credito"
        r"|cuenta bancaria|impuestos?|deudas?|prestamos?"
        r"|faturas?|cartao de credito|conta bancaria|impostos?|dividas?|emprestimos?|stipend[io]\w*|fattur[ae]"
        r"|rimbors[oi]|bonific[oi]|carta di credito|debit[oi]"
        r"|salaris|factuur|facturen|terugbetaling\w*|belasting\w*|schuld(?:en)?|wynagrodzeni\w*|faktur\w*"
        r"|podat\w*)\b",
        r"зарплат|оклад|возврат средств|счет-фактур|кредитн\S{0,3} карт|налог|工资|薪水|薪资|发票|退款|付款"
        r"|信用卡|银行账户|贷款|税款|給与|給料|請求書|返金|支払い|クレジットカード|ローン|급여|환불",
    ),
    "legal": (
        r"\b(?:rechtlich\w*|rechtsanwalt\w*|anwalte?|anwaltin|gericht(?:s\w+|lich\w*)?|klage(?:schrift)?|dsgvo"
        r"|haftung|urheberrecht\w*|vertragsstrafe|juristisch\w*"
        r"|avocate?s?|juridiques?|tribunal|tribunaux|proces judiciaire|rgpd|droits? d'auteur|abogad[oa]s?"
        r"|juridic[oa]s?|demanda judicial|derechos de autor"
        r"|advogad[oa]s?|lgpd|processo judicial|direitos autorais|avvocat[oi]|legal[ei]|tribunale"
        r"|diritto d'autore|advocaat|rechtbank|prawnik\w*|rodo|sadow\w*)\b",
        r"юрист|адвокат|судебн|в суд|авторск\S{0,3} прав|律师|律師|诉讼|訴訟|法院|法律|版权|弁護士|裁判所|著作権"
        r"|법원|변호사",
    ),
    "medical": (
        r"\b(?:diagnostizier\w*|die diagnose|patient(?:in|innen|enakte\w*)|allergi\w+|allergisch\w*"
        r"|medikament\w*|rezeptpflichtig\w*|schwanger\w*|krebs(?:erkrankung)?|krankheit\w*|krankenhaus"
        r"|operation am|depression\w*|krankschreibung\w*|allergiques?|medicaments?|enceinte|grossesse|maladies?"
        r"|hopital|alergic[oa]s?|alergias?|medicamentos?"
        r"|embarazad[ao]|enfermedad(?:es)?|gravida|gravidez|doencas?|allergic[oa]|farmac[oi]|incinta|malatti[ae]"
        r"|ospedale|zwanger\w*|ziekte\w*|ziekenhuis"
        r"|alergi\w+|choroba|choroby|szpital\w*|ciazy)\b",
        r"диагноз|аллерги|беремен|болезн|больниц|лекарств|诊断|过敏|怀孕|疾病|医院|药物|病人|患者|診断"
        r"|アレルギー|妊娠|病気|病院|薬|진단|알레르기|병원",
    ),
    "employment": (
        r"\b(?:kundigung\w*|gekundigt|entlass(?:en|ung\w*)|mitarbeiter\w*|arbeitsvertrag\w*|abmahnung\w*"
        r"|betriebsrat|probezeit|elternzeit|licenci(?:e|ee|ement)s?"
        r"|contrat de travail|demission\w*|embauche|despedid[oa]s?|despido|emplead[oa]s?|contrato laboral"
        r"|renuncio al|demitid[oa]s?|funcionari[oa]s?"
        r"|contrato de trabalho|licenziat[oaie]|licenziamento|dipendent[ei]|contratto di lavoro|ontslag(?:en)?"
        r"|werknemers?|arbeidscontract|zwolnion\w*|pracownik\w*)\b",
        r"увол(?:ен|ил)|сотрудник|трудов\S{0,3} договор|解雇|辞职|辭職|员工|員工|劳动合同|従業員|退職|雇用契約"
        r"|해고|직원",
    ),
    "safety": (
        r"\b(?:arbeitssicherheit|sicherheitsvorschrift\w*|gefahrlich\w*|gefahrstoff\w*|giftig\w*|sprengstoff\w*"
        r"|waffen?|notfall\w*|notaus|evakuier\w*|suizid\w*|selbstmord\w*"
        r"|danger(?:eux|euse)s?|toxiques?|explosifs?|armes? a feu|urgence|peligros[oa]s?|toxic[oa]s?|explosivos?"
        r"|armas? de fuego|emergencia|suicidio|perigos[oa]s?"
        r"|emergencia|pericolos[oaie]|tossic[oaie]|arm[ai] da fuoco|emergenza|gevaarlijk\w*|giftige?"
        r"|noodgeval\w*|niebezpieczn\w*|trujac\w*)\b",
        r"опасн|ядовит|взрывчат|оруж|самоубий|эвакуац|危险|危險|有毒|爆炸|武器|自杀|紧急疏散|危険|有毒|爆発|自殺"
        r"|避難|위험|자살",
    ),
    "deletion": (
        r"\b(?:losch\w*|geloscht\w*|vernicht\w*)\b.{0,40}\b(?:daten\w*|tabellen?|konten|konto|backups?"
        r"|sicherung\w*|kunden\w*|nutzer\w*|verlauf)\b",
        r"\b(?:daten\w*|tabellen?|konten|konto|backups?|sicherung\w*|kunden\w*|nutzer\w*)\b.{0,40}\b(?:losch\w*"
        r"|geloscht\w*|vernichtet)\b",
        r"\b(?:supprim|effac|detrui)\w*\b.{0,40}\b(?:donnees|tables?|bases?|comptes?|sauvegardes?|clients?"
        r"|utilisateurs?)\b",
        r"\b(?:elimin|borr|apag|exclu|cancell|verwijder|usun|usuwa)\w*\b.{0,40}\b(?:datos|tablas?"
        r"|bases? de dat\w+|cuentas?|copias? de seguridad|clientes?|usuarios?|dados|tabelas?"
        r"|contas?|dati|tabell[ae]|clienti|utenti|gegevens|tabel|klanten|gebruikers|dane|danych|tabel\w*"
        r"|kont[ao]?)\b",
        r"(?:удал|стер|уничтож)\S*.{0,40}(?:данн|таблиц|баз|аккаунт|резервн|пользовател)|(?:删除|刪除|清空"
        r"|销毁).{0,12}(?:数据|數據|資料|表|账户|帳戶|备份|用户|記錄|记录)"
        r"|(?:データ|テーブル|アカウント|バックアップ|記録).{0,12}(?:削除|消去|破棄)|(?:데이터|계정|백업).{0,8}삭제",
    ),
}
"""Patterns of each area, over a shown text."""
