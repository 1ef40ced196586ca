/** German texts about the lineage of a run. */
import type { enLineage } from "./enLineage.ts"

export const deLineage: typeof enLineage = {
  lineage: {
    title: "Ursachen und Folgen",
    replay: "Wiederholung",
    none: "Dieser Lauf hat nichts ausgelöst. Funktionen lösen Läufe mit `svc.events.publish`, `svc.call` und `svc.invoke` aus.",
    more: (count) => `${count} weitere`,
    searched: (time) => `Folgen sind die, die bis ${time} begannen.`,
    partial: "Es begannen viele Läufe, darum können spätere Folgen fehlen."
  }
}
