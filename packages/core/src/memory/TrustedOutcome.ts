/** Conversion of the value or error of a trusted function to an outcome (decisions section 9, simplified). */
import { Base64 } from "effect/encoding"
import type { Outcome } from "../platform/sandbox/Outcome.ts"
import { readRetryHint } from "./TrustedRetryHint.ts"

/** Converts a plain value. `undefined` becomes `null`; a value that is not JSON is an error of the function. */
export const valueOutcome = (value: unknown): Outcome => {
  try {
    return { _tag: "Returned", output: jsonText(value) }
  } catch (error) {
    return threw(error)
  }
}

/** Converts the return value of a webhook function. An object whose `status` is an integer is a response. */
export const webhookOutcome = (value: unknown): Outcome => {
  if (!isRecord(value) || !Number.isInteger(value.status)) return valueOutcome(value)
  const status = Number(value.status)
  if (status < 200 || status > 599) return threw(new RangeError(`The response's status ${status} is not 200 to 599`))
  try {
    const headers = readHeaders(value.headers ?? {})
    const contentType = headers["content-type"]
    return {
      _tag: "Responded",
      status,
      headers,
      ...encodedBody(value.body, typeof contentType === "string" ? contentType : undefined)
    }
  } catch (error) {
    return threw(error)
  }
}

/** Converts the error of a function at the time `now`. */
export const failureOutcome = (error: unknown, now: number): Outcome => {
  const retry = readRetryHint(error, now)
  return retry.final || retry.after_ms !== null ? { ...threw(error), retry } : threw(error)
}

const threw = (error: unknown): Extract<Outcome, { _tag: "Threw" }> =>
  error instanceof Error
    ? { _tag: "Threw", name: error.name, message: error.message, stack: error.stack ?? "" }
    : { _tag: "Threw", name: "Error", message: String(error), stack: "" }

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const jsonText = (value: unknown): string => JSON.stringify(value) ?? "null"

const encodedBody = (body: unknown, contentType: string | undefined) => {
  const isRaw = contentType !== undefined && !/^application\/([a-z0-9.+-]*\+)?json\b/i.test(contentType)
  if (body === undefined) return { encoding: "text", body: "" } as const
  if (isRaw && typeof body === "string") return { encoding: "text", body } as const
  if (isRaw && body instanceof Uint8Array) return { encoding: "base64", body: Base64.encode(body) } as const
  return { encoding: "json", body: jsonText(body) } as const
}

/** Reads headers by lowercase name. Joins the values of an array with commas, except cookies, which stay separate. */
const readHeaders = (headers: unknown): Record<string, string | ReadonlyArray<string>> => {
  if (!isRecord(headers)) throw new TypeError("The response's headers are not an object")
  const read: Record<string, string | ReadonlyArray<string>> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue
    const values = (Array.isArray(value) ? value : [value]).map(String)
    if (
      !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ||
      !values.every((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text))
    ) {
      throw new TypeError("The response has a header that cannot be sent")
    }
    const lower = name.toLowerCase()
    read[lower] = lower === "set-cookie" && Array.isArray(value) ? values : values.join(", ")
  }
  return read
}
