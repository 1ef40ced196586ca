/** Sample deliveries of GitHub: every payload that `@octokit/webhooks-examples` ships, named and signed. */
import { createHmac } from "node:crypto"
import { createRequire } from "node:module"
import * as z from "zod"
import { eventType } from "../src/delivery.ts"

export interface Sample {
  /** Unique among the samples, as GitHub's delivery ids are. */
  readonly delivery: string
  /** GitHub's name of the event. */
  readonly event: string
  readonly action: string | null
  /** Under which it is to be published. */
  readonly type: string
  readonly payload: object
  /** JSON text of `payload`, as sent. */
  readonly body: string
}

const Definitions = z.array(
  z.object({ name: z.string(), examples: z.array(z.looseObject({ action: z.string().nullish() })) })
)

/** The package is one JSON file, its types those of another module format. */
const definitions = Definitions.parse(createRequire(import.meta.url)("@octokit/webhooks-examples"))

export const samples: ReadonlyArray<Sample> = definitions.flatMap(({ name, examples }) =>
  examples.map((payload, index) => {
    const action = payload.action ?? null
    const body = JSON.stringify(payload)
    return { delivery: `${name}-${index}`, event: name, action, type: eventType(name, action), payload, body }
  })
)

/** The secret of GitHub's own documentation. */
export const webhookSecret = "It's a Secret to Everybody"

/** The value of `x-hub-signature-256` for a body. */
export const signatureOf = (body: string, secret: string = webhookSecret): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`

/** What GitHub sends along. */
export const headersOf = (sample: Sample): Record<string, string> => ({
  "content-type": "application/json",
  "x-github-delivery": sample.delivery,
  "x-github-event": sample.event,
  "x-hub-signature-256": signatureOf(sample.body)
})
