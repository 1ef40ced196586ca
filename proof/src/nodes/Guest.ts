/** Functions of the tenant. Their results report what they observed, so that checks can compare it. */
/** Maximum concurrent runs of one key of `grouped`. */
export const groupLimit = 2

/** Maximum attempts of `flaky` and of `doomed`. */
export const attempts = { flaky: 5, doomed: 3 } as const

/** Interval of the ticks of `main/tick`, in seconds. */
export const tickSeconds = 2

export const planned = "planned"

export const source = `
const on = (meta, fn) => Object.assign(fn, { meta })
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const work = async ({ n, ms = 0 }, more = {}) => {
  const began = Date.now()
  if (ms > 0) await pause(ms)
  return { n, ...more, began, ended: Date.now() }
}
const retry = (attempts) => ({ attempts, delay: "200ms", backoff: 1, jitter: false })

export const plain = on({ event: "chaos:plain" }, (event) => work(event.event_data))
export const also = on({ event: "chaos:pl*" }, (event) => work(event.event_data))
export const grouped = on(
  { event: "chaos:grouped", concurrency: { limit: ${groupLimit}, key: "key" } },
  (event) => work(event.event_data, { key: event.event_data.key })
)
export const flaky = on({ event: "chaos:flaky", retry: retry(${attempts.flaky}) }, async (event, svc) => {
  const { n, failures } = event.event_data
  if (svc.run.attempt <= failures) throw new Error("${planned}")
  return work(event.event_data, { attempt: svc.run.attempt })
})
export const doomed = on({ event: "chaos:doomed", retry: retry(${attempts.doomed}) }, () => {
  throw new Error("${planned}")
})
export const once = on({ event: "chaos:once", idempotency: "value" }, (event) => work(event.event_data))
export const shown = on({ event: "chaos:shown" }, async (event, svc) => {
  await svc.stream.emit("progress", { n: event.event_data.n })
  return work(event.event_data)
})
export const called = (n, ms) => work({ n, ms })
export const later = (n) => work({ n })
export const hook = on({ webhook: { service: "chaos", path: "/hook" } }, (request) => work(request.body))
export const relay = on({ webhook: { service: "chaos", path: "/relay" } }, async (request, svc) => {
  const { event_id } = await svc.events.publish({ type: "chaos:plain", data: request.body })
  return { event_id }
})
export const tick = on({ schedule: "*/${tickSeconds} * * * * *" }, (tick) => ({ tick: tick.scheduled_time }))
`
