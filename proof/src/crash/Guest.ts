/** Code of the tenant in crash tests. */
import { durableSource } from "./DurableGuest.ts"

export const source = `${durableSource}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export const work = async (event) => event.event_data.n
work.meta = { event: "crash:work" }

export const flaky = async (event, svc) => {
  if (svc.run.attempt === 1) throw new Error("not yet")
  return event.event_data.n
}
flaky.meta = { event: "crash:flaky", retry: { attempts: 3, delay: "50ms", jitter: false } }

export const grouped = async (event) => {
  await pause(60)
  return event.event_data.n
}
grouped.meta = { event: "crash:grouped", concurrency: { limit: 1 } }

export const chatty = async (event, svc) => {
  const { n } = event.event_data
  const secret = await svc.context.get("KEPT")
  svc.log.info("said", { n })
  await svc.stream.emit("step", { n })
  await svc.files.put("chatty/" + n, "by " + n)
  await svc.events.publish({ type: "crash:work", data: { n } })
  await svc.schedules.create({ fn: "main/called", args: [n], schedule: "PT0.05S" })
  return { n, secret }
}
chatty.meta = { event: "crash:chatty", retry: { attempts: 3, delay: "50ms" } }

export const slow = async () => {
  await pause(1500)
  return "slow"
}
slow.meta = { event: "crash:slow" }

export const called = (n) => n

export const hook = async (request, svc) => ({ status: 200, body: { n: request.body.n, run_id: svc.run.run_id } })
hook.meta = { webhook: { service: "crash", path: "/hook", method: "POST" } }

export const read = async (request, svc) => ({ status: 200, body: { value: await svc.context.get(request.body.key) } })
read.meta = { webhook: { service: "crash", path: "/read", method: "POST" } }
`

/** Returns the source of a build that responds with its version. */
export const versionSource = (n: number): string => `
export const version = async () => ({ status: 200, body: { n: ${n} } })
version.meta = { webhook: { service: "version", path: "/", method: "GET" } }
`
