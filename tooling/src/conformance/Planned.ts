/** Rows of the specification that belong to a later part of the product. Only these may have no test. */
export const planned: ReadonlyArray<string> = [
  "endpoint GET /env/subscribe",
  "endpoint GET /streams/{stream_id}/subscribe",
  "endpoint POST /streams/subscribe-with-event",
  "limit SSE connections",
  "permission stream",
  "permission call",
  "system event svc:call",
  "system event svc:schedule",
  "system event svc:schedule:new",
  "system event svc:schedule:cancel",
  "sse /env/subscribe run:start",
  "sse /env/subscribe run:stop",
  "sse /env/subscribe run:fail",
  "sse /env/subscribe run:cancel",
  "sse /env/subscribe event:created",
  "sse /env/subscribe event:handled",
  "sse /env/subscribe stream:created",
  "sse stream endpoints run:start, run:stop, run:fail, run:cancel",
  "sse stream endpoints stream:data",
  "sse stream endpoints stream:complete",
  "sse subscribe-with-event only event:published"
]
