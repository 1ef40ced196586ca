/** English texts about the lineage of a run. */
export const enLineage = {
  lineage: {
    title: "Causes and effects",
    replay: "Replay",
    alone: "Nothing else is known.",
    more: (count: number) => `${count} more`,
    searched: (time: string) => `Effects are those that began until ${time}.`,
    partial: "Many runs began next, so some effects may be missing."
  }
}
