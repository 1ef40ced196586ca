/** English texts of the pages about streams and ticks. */
export const enLive = {
  calendar: {
    title: "The next seven days",
    first: (count: number) => `The ${count} schedules with the earliest ticks`,
    none: "No tick",
    times: (count: number) => `× ${count}`,
    frequent: "Frequent schedules"
  },
  streams: {
    title: "Streams",
    intro:
      "A stream is a series of events and of the runs that they cause. Open one to see its messages as they arrive.",
    stream: "Stream",
    id: "Stream id",
    open: "Open",
    start: "Start a stream",
    publish: "Publish to this stream",
    table: "Streams of the latest events",
    newest: "Newest event",
    events: "Events",
    messages: "Messages",
    clear: "Clear",
    silent: "Messages appear here as they arrive: starts and ends of runs, steps, and what functions emit.",
    emptyTitle: "No stream yet",
    empty: "Each event starts a stream, unless it names one. Functions emit messages with `svc.stream.emit`."
  }
}
