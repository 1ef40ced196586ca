/** German texts of the pages about suspended runs, deliveries, dead letters and pauses. */
import type { enWaiting } from "./enWaiting.ts"

export const deWaiting: typeof enWaiting = {
  waiting: {
    title: "Wartendes",
    pages: {
      runs: "Angehaltene Läufe",
      deliveries: "Ausstehende Zustellungen",
      deadLetters: "Unzustellbares",
      pauses: "Pausen"
    },
    intro: "Angehaltene dauerhafte Läufe und worauf sie warten.",
    deliveriesIntro:
      "Ereignisse, deren Funktionen noch nicht gelaufen sind oder deren nächster Versuch noch nicht fällig ist.",
    deliveriesTable: "Ausstehende Zustellungen, die nächste zuerst",
    noDeliveriesTitle: "Keine Zustellung wartet",
    noDeliveries:
      "Ereignisse starten ihre Funktionen sofort, außer eine Grenze, ein neuer Versuch oder eine Pause verzögert sie.",
    reasons: {
      slot: "einen freien Platz",
      group: "ihren Schlüssel",
      throttle: "ihre Drosselung",
      debounce: "ihre Entprellung",
      batch: "weitere Ereignisse ihres Stapels",
      delay: "ihre Zeit",
      retry: "einen Versuch",
      timer: "das Ende des Schlafs",
      event: "ein Ereignis",
      token: "ein Token",
      run: "einen Unterlauf",
      node: "ihren Knoten",
      plan: "die Grenze des Tarifs",
      paused: "das Ende einer Pause"
    },
    detail: "Einzelheit",
    table: "Angehaltene Läufe, neueste zuerst",
    reason: "Wartet auf",
    name: "Name",
    since: "Seit",
    until: "Bis",
    noEnd: "Ohne Ende",
    emptyTitle: "Nichts wartet",
    empty: "Eine dauerhafte Funktion wartet in `svc.sleep`, `svc.waitForEvent`, `svc.waitForToken` und `svc.invoke`.",
    cancel: "Zustellungen abbrechen",
    cancelTitle: "Ausstehende Zustellungen abbrechen",
    cancelText: "Zustellungen, auf die alle Filter passen, laufen nie. Begonnene Läufe gehen weiter.",
    function: "Funktion, als ns/var",
    eventType: "Ereignistyp",
    project: "Projekt",
    cancelledCount: (count) => (count === 1 ? "1 Zustellung abgebrochen" : `${count} Zustellungen abgebrochen`)
  },
  deadLetters: {
    intro: "Zustellungen, deren letzter Versuch gescheitert ist oder die vor ihrem Start abgelaufen sind.",
    table: "Unzustellbares, das neueste zuerst",
    error: "Fehler",
    emptyTitle: "Nichts ist unzustellbar",
    empty: "Eine Zustellung, deren letzter Versuch scheitert, steht hier, bis Sie sie erneut zustellen oder verwerfen.",
    build: "Build",
    builds: { deployed: "Der bereitgestellte Build", same: "Der Build des letzten Versuchs" },
    redrive: "Erneut zustellen",
    redriveTitle: "Erneut zustellen",
    redriveText:
      "Alles Unzustellbare, auf das alle Filter passen, läuft mit denselben Ereignissen noch einmal. Ohne Filter alles.",
    redrivenCount: (count, skipped) =>
      `${count === 1 ? "1 Zustellung startet" : `${count} Zustellungen starten`} erneut${skipped === 0 ? "" : `, ${skipped} übersprungen`}`,
    discard: "Verwerfen",
    discardTitle: "Unzustellbares verwerfen",
    discardText:
      "Alles Unzustellbare, auf das alle Filter passen, verschwindet aus der Liste. Die Läufe bleiben. Ohne Filter alles.",
    discardedCount: (count) => (count === 1 ? "1 Zustellung verworfen" : `${count} Zustellungen verworfen`)
  },
  pauses: {
    intro: "Was pausiert ist, startet keinen Lauf. Seine Zustellungen bleiben erhalten, begonnene Läufe gehen weiter.",
    table: "Aktive Pausen, neueste zuerst",
    target: "Pausiert",
    by: "Von",
    schedules: "Zeitpläne währenddessen",
    late: "Der letzte Termin am Ende",
    skip: "Kein Termin",
    executing: "Noch laufende Läufe",
    environment: "Die Umgebung",
    project: (name) => `Projekt ${name}`,
    pause: "Pausieren",
    pauseTitle: "Pausieren",
    pauseText: "Neue Läufe warten, bis Sie fortsetzen. Begonnene Läufe gehen bis zu ihrem Ende weiter.",
    scope: "Was pausiert wird",
    scopes: { environment: "Die ganze Umgebung", project: "Ein Projekt", function: "Eine Funktion" },
    paused: "Kein neuer Lauf startet",
    resume: "Fortsetzen",
    resumeTitle: "Fortsetzen",
    resumeText: "Die erhaltenen Zustellungen starten sofort, so schnell es die Grenzen erlauben.",
    resumed: "Läufe starten wieder",
    emptyTitle: "Nichts ist pausiert",
    empty:
      "Pausieren Sie eine Funktion, ein Projekt oder die Umgebung vor einer riskanten Änderung, oder solange ein anderer Dienst ausfällt."
  }
}
