/** Minified bytes that the SDK adds to a bundle, compared with the same functions and a manual `meta`. */
import { expect, it } from "vitest"
import { bundleOf } from "./bundle.ts"

const sdk = `"../src/index.ts"`

const addedBy = async (withSdk: string, byHand: string): Promise<number> =>
  (await bundleOf(withSdk, true)).length - (await bundleOf(byHand, true)).length

it.each([
  [
    "handler",
    700,
    `import { handler } from ${sdk}; export const a = handler({ event: "a", retry: { attempts: 3 } }, (event) => event.event_id)`,
    `export const a = (event) => event.event_id; a.meta = { event: "a", retry: { attempts: 3 } }`
  ],
  [
    "schedule",
    300,
    `import { schedule } from ${sdk}; export const a = schedule("0 3 * * *", (tick) => tick.cron)`,
    `export const a = (tick) => tick.cron; a.meta = { schedule: "0 3 * * *" }`
  ],
  [
    "webhook",
    740,
    `import { webhook } from ${sdk}; export const a = webhook({ service: "s", path: "/" }, (request) => request.body)`,
    `export const a = (request) => request.body; a.meta = { webhook: { service: "s", path: "/" } }`
  ],
  [
    "tool",
    920,
    `import { tool } from ${sdk}; export const a = tool({ service: "s" }, (args) => args)`,
    `export const a = (args) => args; a.meta = { tool: { service: "s" } }`
  ],
  [
    "callable",
    200,
    `import { callable } from ${sdk}; export const a = callable({ timeout: "1s" }, (b) => b)`,
    `export const a = (b) => b; a.meta = { timeout: "1s" }`
  ]
])("%s adds less than %i bytes", async (_, most, withSdk, byHand) => {
  const added = await addedBy(withSdk, byHand)
  expect(added).toBeGreaterThan(0)
  expect(added).toBeLessThan(most)
})

it("the whole SDK adds less than 2260 bytes, and types add nothing", async () => {
  const all = `export { callable, defineEvents, handler, schedule, tool, webhook } from ${sdk}`
  expect(await addedBy(all, "")).toBeLessThan(2260)
  const types = `import "../src/globals.ts"; import type { Svc } from ${sdk}; export const a = (b: Svc) => b`
  expect(await addedBy(types, "export const a = (b) => b")).toBe(0)
})

it("the SDK imports no other package", async () => {
  const code = await bundleOf(`export * from ${sdk}`)
  expect(code.match(/^\/\/ \S+/gm)?.every((line) => /^\/\/ (\.\.\/src|packages\/sdk\/src)\//.test(line))).toBe(true)
  expect(code).not.toMatch(/^import |require\(|node:/m)
})
