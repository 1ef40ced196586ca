;/ German texts about operations on many runs. */

import type { enOperations } from "./enOperations.ts"

export const deOperations: typeof enOperations = {
  operations: {
    title: "Vorgänge",
    intro:
      "Ein Vorgang bricht viele Läufe im Hintergrund ab oder wiederholt sie. Er geht auch ohne diese Seite weiter.",
    list: "Vorgänge der letzten 30 Tage, neueste zuerst",
    kinds: { cancel: "Abbrechen", replay: "Wiederholen" },
    states: {
      pending: "Steht an",
      running: "Läuft",
      succeeded: "Fertig",
      failed: "Fehlgeschlagen",
      cancelled: "Abgebrochen"
    },
    allRuns: "alle Läufe",
    since: (time) => `seit ${time}`,
    ofEvent: (id) => `des Ereignisses ${id}`,
    waitsFor: (reason) => `warten auf ${reason}`,
    builds: { same: "mit dem Build jedes Laufs", deployed: "mit dem bereitgestellten Build" },
    progress: (done, total) => `${done} von ${total} Läufen`,
    counts: (done, skipped, failed) => `${done} erledigt · ${skipped} übersprungen · ${failed} fehlgeschlagen`,
    rate: (rate) => `${rate} Läufe pro Sekunde`,
    limitedTo: (rate) => `höchstens ${rate} pro Sekunde`,
    delayed: "Verzögert",
    failures: (count) => (count === 1 ? "Der fehlgeschlagene Lauf" : `Die letzten ${count} fehlgeschlagenen Läufe`),
    by: "Von",
    took: "Dauer",
    cancel: "Vorgang abbrechen",
    cancelTitle: "Diesen Vorgang abbrechen",
    cancelText: "Er endet nach dem laufenden Stapel. Abgebrochene und wiederholte Läufe bleiben, wie sie sind.",
    cancelled: "Der Vorgang ist abgebrochen",
    started: "Der Vorgang hat begonnen",
    emptyTitle: "Noch kein Vorgang",
    empty:
      "Filtern Sie Läufe, und wählen Sie dort Alle wiederholen oder Laufende abbrechen. Auf der Befehlszeile: `weft runs replay --all-matching --status failed --since 1h`.",
    toRuns: "Läufe filtern",
    rateField: "Höchstens Läufe pro Sekunde",
    rateHint: "So schnell der Knoten kann",
    statusField: "Beendete Läufe, die wiederholt werden",
    skipHint: "Läufe ohne Bedarf werden übersprungen: ohne Ereignis, oder inzwischen neu versucht.",
    textHint:
      "Ein Vorgang kann nicht nach Fehlertext filtern. Diese Seite handelt selbst, bei höchstens 1.000 Läufen. Lassen Sie sie offen."
  }
}
