/** Whole functions, which the completion inserts, and the source of a new project. */

export const snippets = [
  {
    label: "handler",
    detail: "handles events of a type",
    template:
      'export const #{onEvent} = async (event, svc) => {\n  svc.log.info("#{received}", event.event_data)\n  #{}\n}\n#{onEvent}.meta = { event: "#{order:created}", retry: { attempts: 3 } }\n'
  },
  {
    label: "webhook",
    detail: "responds to requests",
    template:
      'export const #{hook} = async (request, svc) => {\n  #{}\n  return { status: 200, body: { ok: true } }\n}\n#{hook}.meta = { webhook: { service: "#{shop}", path: "/#{hook}", method: "POST" } }\n'
  },
  {
    label: "schedule",
    detail: "runs at times",
    template: 'export const #{nightly} = async () => {\n  #{}\n}\n#{nightly}.meta = { schedule: "#{0 3 * * *}" }\n'
  },
  {
    label: "durable",
    detail: "has steps and sleeps",
    template:
      'export const #{flow} = async (event, svc) => {\n  const #{first} = await svc.step("#{first}", async () => #{null})\n  await svc.sleep("#{pause}", "1h")\n  return #{first}\n}\n#{flow}.meta = { event: "#{order:created}", durable: true }\n'
  }
] as const

export const starter = `/** Handles each event of the type. Edit it, then run it. */
export const greet = async (event, svc) => {
  svc.log.info("received", event.event_data)
  return { greeting: \`Hello, \${event.event_data.name}\` }
}
greet.meta = { event: "person:arrived" }
`

export const starterInput = '{ "name": "Ada" }'
