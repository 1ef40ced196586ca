/** German texts about the rights of credentials. */
import type { enRights } from "./enRights.ts"

export const deRights: typeof enRights = {
  rights: {
    title: "Wirksame Rechte",
    credential: "Von",
    own: "API-Schlüssel dieser Anmeldung",
    apiKey: "API-Schlüssel",
    serviceKey: "Dienstschlüssel",
    session: "Sitzung",
    show: "Rechte",
    none: "Dieser Zugang darf seine Sitzungen nicht lesen.",
    ownHint: "Stand der Anmeldung. Andere Zugänge dieses API-Schlüssels haben nie mehr Rechte.",
    derivedHint:
      "Was die eigenen Berechtigungen und die des API-Schlüssels beide erlauben. Der Server prüft beides bei jeder Anfrage.",
    resource: "Ressource",
    actions: {
      create: "Anlegen",
      read: "Lesen",
      update: "Ändern",
      delete: "Löschen",
      execute: "Ausführen"
    },
    states: {
      all: "Auf allen",
      some: "Nur auf den genannten",
      lost: "Erteilt, aber der API-Schlüssel hat es nicht",
      none: "Nicht erteilt",
      unknown: "Gibt es nicht"
    },
    types: {
      event: "Ereignisse",
      run: "Läufe, Protokolle und Zahlen",
      call: "Aufrufe, Wiederholungen, Abbrüche und Vorgänge",
      stream: "Live-Nachrichten",
      webhook: "Webhooks mit Zugang",
      mcp: "Werkzeuge von Modellen",
      project: "Projekte",
      build: "Builds, Bereitstellungen, Pausen und Alarmregeln",
      context: "Geheimnisse",
      file: "Dateien",
      domain: "Eigene Domains",
      key: "Dienstschlüssel und Audit-Protokoll",
      session: "Sitzungen",
      env: "Umgebung und Verbrauch",
      eval: "Quelltext"
    }
  }
}
