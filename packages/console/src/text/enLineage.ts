/** English texts about the lineage of a run. */
export const enLineage = {
  lineage: {
    title: "Causes and effects",
    replay: "Replay",
    none: "This run has caused nothing. Functions cause runs with `svc.events.publish`, `svc.call` and `svc.invoke`.",
    more: (count: number) => `${count} more`,
    searched: (time: string) => `Effects are those that began until ${time}.`,
    partial: "Many runs began next, so later effects may be missing."
  }
}
