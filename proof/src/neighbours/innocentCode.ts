/** The build of the innocent tenant: a webhook, an event handler and a schedule that fires every second. */

export const innocentSource = `
export const hook = (request) => ({ status: 200, body: { n: request.body.n, twice: request.body.n * 2 } })
hook.meta = { webhook: { service: "innocent", path: "/hook" } }
export const onEvent = (event) => ({ n: event.event_data.n })
onEvent.meta = { event: "innocent:event" }
export const tick = (tick) => ({ tick: tick.scheduled_time })
tick.meta = { schedule: "* * * * * *" }
`

export const innocentPath = "/webhook/default/production/innocent/hook"
export const innocentEvent = "innocent:event"
export const tickMs = 1_000
