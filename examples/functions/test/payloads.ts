/** Sample deliveries of GitHub: the payloads of `@octokit/webhooks-examples`, with names and signatures. */
import { createHmac } from "node:crypto"
import { createRequire } from "node:module"
import * as z from "zod"
import { eventType } from "../src/delivery.ts"

export interface Sample {
  /** Unique among the samples, like GitHub's delivery ids. */
  readonly delivery: string
  /** GitHub's name of the event. */
  readonly event: string
  readonly action: string | null
  /** Type of the published event. */
  readonly type: string
  readonly payload: object
  /** JSON text of `payload`, as sent. */
  readonly body: string
}

const Definitions = z.array(
  z.object({ name: z.string(), examples: z.array(z.looseObject({ action: z.string().nullish() })) })
)

/** `require`, because the package is one JSON file with types for CommonJS. */
const definitions = Definitions.parse(createRequire(import.meta.url)("@octokit/webhooks-examples"))

export const samples: ReadonlyArray<Sample> = definitions.flatMap(({ name, examples }) =>
  examples.map((payload, index) => {
    const action = payload.action ?? null
    const body = JSON.stringify(payload)
    return { delivery: `${name}-${index}`, event: name, action, type: eventType(name, action), payload, body }
  })
)

/** The secret in GitHub's documentation. */
export const webhookSecret = "It's a Secret to Everybody"

/** Returns the value of `x-hub-signature-256` for a body. */
export const sign = (body: string, secret: string = webhookSecret): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`

/** Returns the headers that GitHub sends. */
export const makeHeaders = (sample: Sample): Record<string, string> => ({
  "content-type": "application/json",
  "x-github-delivery": sample.delivery,
  "x-github-event": sample.event,
  "x-hub-signature-256": sign(sample.body)
})
