/** German texts about the lineage of a run. */
import type { enLineage } from "./enLineage.ts"

export const deLineage: typeof enLineage = {
  lineage: {
    title: "Ursachen und Folgen",
    replay: "Wiederholung",
    alone: "Sonst ist nichts bekannt.",
    more: (count) => `${count} weitere`,
    searched: (time) => `Folgen sind die, die bis ${time} begannen.`,
    partial: "Danach begannen viele Läufe, darum können Folgen fehlen."
  }
}
