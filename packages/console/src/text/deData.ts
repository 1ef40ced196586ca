/** German texts of the pages about data: secrets, files, domains and the audit log. */
import type { enData } from "./enData.ts"

export const deData: typeof enData = {
  secrets: {
    title: "Geheimnisse",
    key: "Schlüssel",
    value: "Wert",
    description: "Zweck",
    updated: "Geändert",
    set: "Geheimnis setzen",
    setText: "Funktionen lesen es mit `svc.context.get`. Weft zeigt seinen Wert nie wieder.",
    replace: "Ersetzen",
    remove: "Löschen",
    removeTitle: "Geheimnis löschen",
    removeText: "Funktionen erhalten danach null statt des Werts.",
    project: "Projekt",
    emptyTitle: "Noch kein Geheimnis",
    empty: "Setzen Sie eines hier oder mit `weft context set`. Funktionen lesen es mit `svc.context.get`.",
    saved: "Das Geheimnis ist gespeichert"
  },
  files: {
    title: "Dateien",
    path: "Pfad",
    size: "Größe",
    type: "Typ",
    changed: "Geändert",
    prefix: "Ordner oder Anfang",
    upload: "Datei hochladen",
    choose: "Datei",
    actions: "Aktionen",
    download: "Herunterladen",
    remove: "Löschen",
    removeTitle: "Datei löschen",
    removeText: "Ihr Inhalt lässt sich nicht wiederherstellen.",
    link: "Link kopieren",
    linkCopied: "Der Link gilt eine Stunde",
    table: "Dateien nach Pfad",
    emptyTitle: "Keine Datei",
    empty: "Laden Sie eine hier hoch, mit `weft files put` oder aus einer Funktion mit `svc.files.put`.",
    uploaded: "Die Datei ist gespeichert"
  },
  domains: {
    title: "Domains",
    domain: "Domain",
    state: "Zustand",
    states: {
      pending_validation: "Wartet auf DNS",
      validated: "Bestätigt",
      provisioning: "Wird eingerichtet",
      active: "Aktiv",
      deleting: "Wird gelöscht"
    },
    add: "Domain hinzufügen",
    addText: "Webhooks dieser Umgebung sind dann unter ihrem `/webhook/…` erreichbar.",
    host: "Hostname",
    records: "Anzulegende DNS-Einträge",
    validation: "Beweist, dass die Domain Ihnen gehört",
    routing: "Leitet Anfragen an diesen Server",
    verify: "Jetzt prüfen",
    remove: "Löschen",
    removeTitle: "Domain löschen",
    removeText: "Ihre Anfragen erhalten danach 404.",
    emptyTitle: "Noch keine Domain",
    empty: "Eine eigene Domain gibt Webhooks einen eigenen Ursprung, mit Cookies und Speicher.",
    type: "Typ",
    name: "Name",
    value: "Wert",
    purpose: "Zweck"
  },
  audit: {
    title: "Audit-Protokoll",
    time: "Zeit",
    action: "Vorgang",
    actor: "Wer",
    object: "Gegenstand",
    outcome: "Ausgang",
    outcomes: { done: "Erledigt", refused: "Abgelehnt" },
    actors: {
      "api-key": "API-Schlüssel",
      "service-key": "Dienstschlüssel",
      session: "Sitzung",
      host: "Host",
      admin: "Betreiber",
      token: "Token",
      unknown: "Unbekannt"
    },
    table: "Audit-Protokoll, neueste zuerst",
    emptyTitle: "Kein Eintrag passt",
    empty:
      "Einträge halten fest, wer Zugänge, Geheimnisse, Domains und Bereitstellungen geändert hat, und abgelehnte Versuche."
  }
}
