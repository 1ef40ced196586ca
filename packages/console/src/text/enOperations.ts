;/ English texts about operations on many runs. */
export const enOperations = {
  operations: {
    title: "Operations",
    intro: "An operation cancels or replays many runs in the background. It continues without this page.",
    list: "Operations of the last 30 days, newest first",
    kinds: { cancel: "Cancel", replay: "Replay" } as Record<string, string>,
    states: {
      pending: "Pending",
      running: "Running",
      succeeded: "Succeeded",
      failed: "Failed",
      cancelled: "Cancelled"
    } as Record<string, string>,
    allRuns: "all runs",
    since: (time: string) => `since ${time}`,
    ofEvent: (id: string) => `of event ${id}`,
    waitsFor: (reason: string) => `waits for ${reason}`,
    builds: { same: "with the build of each run", deployed: "with the deployed build" } as Record<string, string>,
    progress: (done: string, total: string) => `${done} of ${total} runs`,
    counts: (done: string, skipped: string, failed: string) => `${done} done · ${skipped} skipped · ${failed} failed`,
    rate: (rate: string) => `${rate} runs per second`,
    limitedTo: (rate: string) => `at most ${rate} per second`,
    delayed: "Delayed",
    failures: (count: number) => (count === 1 ? "The run that failed" : `The latest ${count} runs that failed`),
    by: "By",
    took: "Duration",
    cancel: "Cancel the operation",
    cancelTitle: "Cancel this operation",
    cancelText: "It ends after its current batch. Runs that it has cancelled or replayed stay as they are.",
    cancelled: "The operation is cancelled",
    started: "The operation has started",
    emptyTitle: "No operation yet",
    empty:
      "Filter runs, then choose Replay all or Cancel running there. On the command line: `weft runs replay --all-matching --status failed --since 1h`.",
    toRuns: "Filter runs",
    rateField: "Maximum runs per second",
    rateHint: "As fast as the node allows",
    statusField: "Ended runs to replay",
    skipHint: "Runs that need nothing are skipped: without an event, or retried since.",
    textHint:
      "An operation cannot filter by the text of errors. This page applies the action itself, to at most 1,000 runs. Keep it open."
  }
}
