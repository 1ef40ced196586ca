/** Builds that compile slowly, are huge or change without end. */
import { bundle, sha256 } from "@weft/bench/instruments"
import type { Attack } from "../Attack.ts"
import { hookPath, type Shape } from "../Shape.ts"
import { asWebhook } from "./programs.ts"

const tenant = { attacker: "tenant", room: "builds" } as const

const boundary = "neighbours-boundary"

/** Returns the body of an upload of a build. */
const form = (zip: Uint8Array, type: "bundle" | "live"): Buffer => {
  const field = (name: string, value: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  return Buffer.concat([
    Buffer.from(field("hash", sha256(zip)) + field("build_type", type)),
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="b.zip"\r\ncontent-type: application/zip\r\n\r\n`
    ),
    zip,
    Buffer.from(`\r\n--${boundary}--\r\n`)
  ])
}

/** Uploads a live build, which is compiled and active at once. */
const goLive = (attack: Attack, source: string, environment = 1) =>
  attack.send({
    path: "/v1/projects/attack/builds",
    as: environment,
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: form(bundle(source), "live")
  })

/** Modules of 5 MB: a table of many small functions takes seconds to parse and to compile. */
const slowToCompile = (salt: number): string =>
  `${asWebhook("return 1")}export const salt = ${salt}\n` +
  Array.from(
    { length: 50_000 },
    (_, n) => `const f${n} = (a, b) => { let c = a * ${n}; if (b) c += f${n}(c, !b); return c }\n`
  ).join("")

export const buildShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "slow-compiles",
    sends: "20 environments each upload a live build of 50,000 functions",
    sees: [200, 201, 400, 429, 503, "closed", "pending"],
    environments: 20,
    prepare: async (attack) => {
      for (let environment = 2; environment <= 20; environment++) {
        await attack.require({ path: "/v1/projects", as: environment, body: { name: "attack" } })
      }
      return ""
    },
    attack: (attack) =>
      attack.clients(20, (client, turn) => goLive(attack, slowToCompile(client * 1_000 + turn), 1 + client))
  },
  {
    ...tenant,
    name: "slow-loads",
    sends: "4 clients upload live builds whose module computes without end",
    sees: [400, 429, 503, "pending"],
    attack: (attack) => attack.clients(4, (client, turn) => goLive(attack, `for (;;) {} // ${client} ${turn}`))
  },
  {
    ...tenant,
    name: "build-churn",
    sends: "4 clients upload small live builds and call each once",
    sees: [200, 201, 400, 404, 429, 500, 503, "pending"],
    attack: (attack) =>
      attack.clients(4, async (client, turn) => {
        await goLive(attack, asWebhook(`return "${client} ${turn}"`))
        await attack.send({ method: "POST", path: hookPath("x") })
      })
  },
  {
    ...tenant,
    name: "wide-builds",
    sends: "4 clients upload live builds of 1,000 functions with 2,000 event types",
    sees: [200, 201, 400, 429, 503, "pending"],
    attack: (attack) =>
      attack.clients(4, (client, turn) =>
        goLive(
          attack,
          Array.from(
            { length: 1_000 },
            (_, n) => `export const on${n} = () => 1\non${n}.meta = { event: ["a:${client}:${turn}:${n}", "b:${n}"] }\n`
          ).join("")
        )
      )
  },
  {
    ...tenant,
    name: "zip-bombs",
    sends: "8 clients upload zips whose code has 300 MB, above the limit",
    sees: [201, 400, 429, 503, "pending"],
    prepare: async () => bomb(),
    attack: (attack, zip) => {
      const body = form(Buffer.from(zip, "base64"), "bundle")
      return attack.clients(8, () =>
        attack.send({
          path: "/v1/projects/attack/builds",
          as: 1,
          headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
          body
        })
      )
    }
  },
  {
    ...tenant,
    name: "many-form-fields",
    sends: "16 clients upload forms of 10,000 fields",
    sees: [400, 429, "closed", "pending"],
    attack: (attack) => {
      const field = `--${boundary}\r\ncontent-disposition: form-data; name="x"\r\n\r\ny\r\n`
      return attack.clients(16, () =>
        attack.send({
          path: "/v1/projects/attack/builds",
          as: 1,
          headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
          body: field.repeat(10_000)
        })
      )
    }
  }
]

/** Returns the base64 of a zip with 300 MB of spaces. */
const bomb = (): string => Buffer.from(bundle(" ".repeat(300_000_000))).toString("base64")
