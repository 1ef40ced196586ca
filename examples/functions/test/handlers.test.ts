import { testEnv } from "@weft/sdk/testing"
import { describe, expect, it } from "vitest"
import { flaky } from "../src/flaky.ts"
import { countValues, onAny } from "../src/onAny.ts"
import { onIssue } from "../src/onIssue.ts"
import { onPullRequest, sizeLabel } from "../src/onPullRequest.ts"
import { onPush } from "../src/onPush.ts"
import { onRelease } from "../src/onRelease.ts"
import { isMilestone, onStar } from "../src/onStar.ts"
import { samples } from "./payloads.ts"

const eventOf = (type: string, payload: object) => {
  const [, event = "", action = null] = type.split(":")
  const event_time = "2026-01-02T00:00:00.000Z"
  return { event_type: type, event_time, event_data: { delivery: "1", event, action, payload } }
}

const sampleEvents = (name: string) =>
  samples.filter(({ event }) => event === name).map((sample) => [sample, eventOf(sample.type, sample.payload)] as const)

const { deliver } = testEnv()

describe("onPush", () => {
  const commit = {
    id: "6113728f27ae82c7b1a177c8d03f9e96e0adf246",
    message: "Fix the loop\n\nIt never ended.",
    timestamp: "2026-01-01T22:00:00+01:00",
    author: { name: "Ada" },
    added: ["a.ts"],
    removed: [],
    modified: ["b.ts"]
  }
  const push = { ref: "refs/heads/main", created: false, deleted: false, forced: false, commits: [commit, commit] }

  it("returns a line per commit with its age at the event's time, and counts each file once", async () => {
    const line = { id: "6113728", subject: "Fix the loop", author: "Ada", age: "3 hours ago" }
    const { result } = await deliver(onPush, eventOf("github:push", push))
    expect(result).toEqual({ kind: "push", branch: "main", change: "advanced", files: 2, commits: [line, line] })
  })

  it("reads every sample", async () => {
    for (const [, event] of sampleEvents("push")) {
      expect((await deliver(onPush, event)).result?.branch).toMatch(/^(?!refs\/)./)
    }
  })

  it("names the invalid field", async () => {
    const { error } = await deliver(onPush, eventOf("github:push", { ...push, ref: 1 }))
    expect(error).toMatchObject({ name: "Invalid", message: expect.stringContaining("payload.ref: ") })
  })
})

describe("onIssue", () => {
  it("turns Markdown into HTML and words", async () => {
    const body =
      "## Steps\n\n1. **open** `a.ts`\n2. see [docs](https://example.test)\n\n<b>raw</b>\n\n> quoted\n\n| a | b |\n|---|---|\n| c | d |"
    const issue = { number: 7, title: "It breaks", body, labels: [{ name: "bug" }, { name: "a11y" }] }
    const { result } = await deliver(onIssue, eventOf("github:issues:opened", { action: "opened", issue }))
    expect(result).toMatchObject({ kind: "issue", action: "opened", number: 7, labels: ["a11y", "bug"] })
    expect(result?.text).toBe("Steps\nopen a.ts\nsee docs\nraw\nquoted\na b c d")
    expect(result?.words).toBe(11)
    expect(result?.html).toContain("<strong>open</strong> <code>a.ts</code>")
  })

  it("reads every sample, including those without a body", async () => {
    for (const [sample, event] of sampleEvents("issues")) {
      expect((await deliver(onIssue, event)).result?.action).toBe(sample.action)
    }
  })
})

describe("onPullRequest", () => {
  it.each([
    [0, "XS"],
    [9, "XS"],
    [10, "S"],
    [49, "S"],
    [50, "M"],
    [249, "M"],
    [250, "L"],
    [999, "L"],
    [1000, "XL"]
  ])("labels %i changed lines as %s", (lines, label) => {
    expect(sizeLabel(lines)).toBe(label)
  })

  it("measures the time from opening to merging", async () => {
    const pull_request = {
      number: 3,
      title: "Fix",
      created_at: "2026-01-01T00:00:00Z",
      closed_at: "2026-01-02T02:00:00Z",
      merged_at: "2026-01-02T01:30:00Z",
      additions: 30,
      deletions: 12
    }
    const event = eventOf("github:pull_request:closed", { action: "closed", pull_request })
    expect((await deliver(onPullRequest, event)).result).toMatchObject({
      state: "merged",
      size: "S",
      lead_time: { minutes: 1530, words: "1 day 1 hour 30 minutes" }
    })
  })

  it("reads every sample, and returns no lead time for open ones", async () => {
    for (const [, event] of sampleEvents("pull_request")) {
      const { result } = await deliver(onPullRequest, event)
      expect(result?.lead_time === null).toBe(result?.state === "open" || result?.state === "draft")
    }
  })
})

describe("onRelease", () => {
  it("reads every sample and adds up its assets", async () => {
    for (const [, event] of sampleEvents("release")) {
      expect((await deliver(onRelease, event)).result?.bytes).toBeGreaterThanOrEqual(0)
    }
    const assets = [
      { name: "a", size: 3, download_count: 1 },
      { name: "b", size: 4, download_count: 5 }
    ]
    const release = { tag_name: "v1", name: null, body: "**New**", prerelease: true, assets }
    const event = eventOf("github:release:published", { action: "published", release })
    expect((await deliver(onRelease, event)).result).toEqual({
      kind: "release",
      action: "published",
      title: "v1",
      channel: "next",
      notes: "New",
      bytes: 7,
      downloads: 6
    })
  })
})

describe("onStar", () => {
  it("reads every sample of both events", async () => {
    for (const [sample, event] of [...sampleEvents("star"), ...sampleEvents("watch")]) {
      expect((await deliver(onStar, event)).result?.given).toBe(sample.action !== "deleted")
    }
  })

  it.each([
    [1, true],
    [10, true],
    [1000, true],
    [0, false],
    [20, false],
    [101, false]
  ])("isMilestone(%i) is %s", (stars, expected) => {
    expect(isMilestone(stars)).toBe(expected)
  })
})

describe("onAny", () => {
  it("normalizes each sample with a sender, and rejects the others with their event type", async () => {
    for (const sample of samples) {
      const { type, delivery, event, action, payload } = sample
      const { status, result, error } = await deliver(onAny, {
        event_type: type,
        event_data: { delivery, event, action, payload }
      })
      expect(status).toBe("sender" in payload ? "succeeded" : "failed")
      if (status === "succeeded") {
        expect(result).toMatchObject({ kind: "any", event, action })
        expect(result?.repository === null).toBe(!("repository" in payload))
      } else expect(error?.message).toBe(`${type} has no sender`)
    }
  })

  it("counts values without their containers", () => {
    expect(countValues({ a: 1, b: [null, "x", {}], c: { d: true } })).toBe(4)
  })
})

describe("flaky", () => {
  it("fails on the first attempt only", async () => {
    const event = eventOf("github:ping", {})
    expect((await deliver(flaky, event, { attempt: 1 })).error?.message).toBe("The first attempt always fails")
    expect((await deliver(flaky, event, { attempt: 2 })).result).toEqual({ kind: "flaky", attempt: 2 })
  })
})
