/** Errors that decide about further attempts. */
import { describe, expect, it } from "vitest"
import { NonRetryable, RetryAfter } from "../src/index.ts"

describe("NonRetryable", () => {
  it("is recognizable by its name and by its field, and keeps its cause", () => {
    const cause = new RangeError("declined")
    const error = new NonRetryable("The card was declined", { cause })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: "NonRetryable", nonRetryable: true, message: "The card was declined", cause })
  })
})

describe("RetryAfter", () => {
  it("has the time of the next attempt", () => {
    const at = new Date(0)
    expect(new RetryAfter("2m")).toMatchObject({ name: "RetryAfter", retryAfter: "2m" })
    expect(new RetryAfter(at, "busy", { cause: 1 })).toMatchObject({ retryAfter: at, message: "busy", cause: 1 })
  })

  it("reads the header of a response: seconds, or a date", () => {
    const from = (headers: Record<string, string>) => RetryAfter.from(new Response(null, { status: 429, headers }))
    expect(from({ "retry-after": "120" })).toMatchObject({ retryAfter: 120_000, message: "The server answered 429" })
    expect(from({ "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" }).retryAfter).toEqual(
      new Date("2026-10-21T07:28:00Z")
    )
    expect(from({ "retry-after": "soon" }).retryAfter).toBeUndefined()
    expect(from({}).retryAfter).toBeUndefined()
  })
})
