/** Inferred types of host functions, from the schemas of the host to the code of its tenants. */
import { expect, it } from "vitest"
import { authorsProject } from "./compiled.ts"

const same = `
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
export const is = <A, B>(same: Same<A, B>) => same
`

const host = `
import { type GuestFunctions, HostRefused, hostEffect, hostFunction, type RuntimeConfig } from "@weft/core"
import { Context, Effect, Schema } from "effect"
import * as v from "valibot"
import * as z from "zod"
import { is } from "./same.ts"

class Crm extends Context.Service<Crm, { readonly find: (id: string) => Effect.Effect<string> }>()("Crm") {}

const customer = z.object({ name: z.string(), since: z.date(), tags: z.array(z.string()).optional() })
const lookup = hostFunction(
  { input: z.object({ id: z.string(), limit: z.coerce.number().default(1) }), output: customer.nullable(), timeout: "5s" },
  async ({ id, limit }, { org, env, run, caller, signal }) => {
    is<typeof id, string>(true)
    is<typeof limit, number>(true)
    is<typeof run.attempt, number>(true)
    if (caller?.type === "session" && signal.aborted) throw new HostRefused({ name: "No", message: org.slug })
    await fetch("https://crm.example.test", { signal })
    return env.name === "production" ? null : { name: id, since: new Date() }
  }
)
const count = hostFunction({ input: v.pipe(v.string(), v.transform(Number)), output: v.number() }, (n) => n + 1)
const dated = hostFunction({ input: Schema.DateTimeUtcFromString, output: Schema.FiniteFromString }, (date) => date.epochMilliseconds)
const ping = hostFunction({ allow: ({ org }) => org.plan === "Pro", rate: { calls: 1, per: "1m" } }, () => "anything")
export const made = hostEffect({ input: Schema.String, output: Schema.String }, (id, { org }) =>
  Effect.gen(function* () {
    return (yield* (yield* Crm).find(id)) + org.slug
  })
)
is<typeof made extends Effect.Effect<infer A, never, Crm> ? A : never, ReturnType<typeof effectful>>(true)
const effectful = () => Effect.runSync(Effect.provideService(made, Crm, Crm.of({ find: Effect.succeed })))

export const host = { "crm.lookup": lookup, "crm.count.next": count, dated, ping, effectful: effectful() }
export const config: Pick<RuntimeConfig, "host"> = { host }
export type Offered = GuestFunctions<typeof host>
`

const right = `
import type { Svc } from "@weft/sdk"
import { testEnv } from "@weft/sdk/testing"
import { handler } from "@weft/sdk"
import type { Offered } from "./host.ts"
import { is } from "./same.ts"
import "@weft/sdk/globals"

declare module "@weft/sdk" {
  interface HostFunctions extends Offered {
    "crm.customer.add"(input: { name: string }, ...more: Array<never>): Promise<{ id: string }>
    "crm.customer": (id: string) => string
  }
}

export const calls = async (svc: Svc) => {
  const found = await svc.host.crm.lookup({ id: "7" })
  is<typeof found, { name: string; since: string; tags?: Array<string> | undefined } | null>(true)
  const limited = await svc.host.crm.lookup({ id: "7", limit: "3" })
  is<typeof limited, typeof found>(true)
  is<Awaited<ReturnType<typeof svc.host.crm.count.next>>, number>(true)
  is<Awaited<ReturnType<typeof svc.host.dated>>, string>(true)
  const nothing = await svc.host.ping()
  is<typeof nothing, void>(true)
  is<Awaited<ReturnType<typeof svc.host.effectful>>, string>(true)
  const { id } = await svc.host.crm.customer.add({ name: "Ada" })
  is<typeof id, string>(true)
  return svc.host.crm.customer(id)
}
export const global = () => svc.host.ping()

export const tested = async () => {
  const env = testEnv({
    host: {
      "crm.lookup": ({ id }) => (id === "7" ? { name: "Ada", since: "2026" } : null),
      "crm.customer": async (id) => id,
      ping: () => undefined
    }
  })
  const { hostCalls } = await env.event(handler("a", (_, svc) => svc.host.crm.customer("7")), null)
  is<(typeof hostCalls)[number]["input"], unknown>(true)
}
`

/** Wrong code; the expected error follows each line. */
const wrong = `
import { hostFunction } from "@weft/core"
import type { Svc } from "@weft/sdk"
import { testEnv } from "@weft/sdk/testing"
import { Schema } from "effect"
import * as z from "zod"
export const calls = async (svc: Svc) => {
  await svc.host.crm.lookup({ id: 7 }) //~ 'number' is not assignable to type 'string'
  await svc.host.crm.lookup() //~ Expected 1 arguments
  await svc.host.crm.find({ id: "7" }) //~ Property 'find' does not exist
  await svc.host.crm() //~ not callable
  await svc.host.ping(7) //~ 'number' is not assignable to parameter of type 'void'
  const { name } = await svc.host.crm.lookup({ id: "7" }) //~ Property 'name' does not exist
  svc.host.crm = svc.host.crm //~ read-only
}
testEnv({ host: { "crm.lookup": () => 7 } }) //~ not assignable
testEnv({ host: { "crm.find": () => 7 } }) //~ crm.find.* does not exist
hostFunction({ output: z.object({ name: z.string() }) }, () => ({ nam: "x" })) //~ nam
hostFunction({ output: Schema.String }, async () => 7) //~ number
hostFunction({ input: Schema.String }, (id: number) => id) //~ not assignable
hostFunction({ input: z.object({ id: z.string() }) }, ({ name }) => name) //~ Property 'name' does not exist
hostFunction({ timout: "5s" }, () => 7) //~ 'timout' does not exist
hostFunction({ allow: async () => true }, () => 7) //~ 'Promise<boolean>' is not assignable to type 'boolean'
hostFunction({ rate: { calls: 1 } }, () => 7) //~ Property 'per' is missing
`

it("the host's schemas determine the types of its functions and of svc.host", async () => {
  await using project = await authorsProject({ "same.ts": same, "host.ts": host, "right.ts": right, "wrong.ts": wrong })
  const complaints = await project.compile()
  expect(complaints.filter(({ file }) => file !== "wrong.ts")).toEqual([])

  for (const [index, text] of wrong.split("\n").entries()) {
    const expected = text.split("//~ ")[1]
    const found = complaints.filter(({ line }) => line === index + 1)
    if (expected === undefined) expect(found, text).toEqual([])
    else expect(found.map(({ message }) => message).join(), text).toMatch(new RegExp(expected))
  }
}, 120_000)

it("svc.host has no names if the host declares none", async () => {
  const code = `
import type { Svc } from "@weft/sdk"
export const calls = (svc: Svc) => svc.host.crm
`
  await using project = await authorsProject({ "none.ts": code })
  expect((await project.compile()).map(({ message }) => message)).toEqual([
    expect.stringContaining("Property 'crm' does not exist")
  ])
}, 120_000)
