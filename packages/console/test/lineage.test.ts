import { assert, describe, it } from "@effect/vitest"
import type { Run } from "@weft/client"
import { buildLineage, descendantsOf, hasEffects, idAt, type LineageNode } from "../src/runs/Lineage.ts"

const makeRun = (run_id: string, event_id: string | null, origin_run_id: string | null): Run => ({
  ...{ run_id, event_id, origin_run_id, env_id: "env", stream_id: "stream", build_id: "build" },
  ...{ run_type: "event", status: "succeeded", start_time: `2026-01-31T12:00:0${run_id.slice(-1)}.000Z` },
  ...{ stop_time: "2026-01-31T12:00:09.000Z", result: null, project_id: "project", project_name: "shop" }
})

/** Returns the tree as nested names. */
const outline = (node: LineageNode): unknown => {
  const name = node.kind === "event" ? node.id : node.run.run_id
  return node.children.length === 0 ? name : { [name]: node.children.map(outline) }
}

const order = makeRun("r1", "order", null)
const other = makeRun("r2", "order", null)
const retry = makeRun("r3", "order", "r1")
const mail = makeRun("r4", "mail", "r3")
const invoice = makeRun("r5", "mail", "r3")
const sent = makeRun("r6", "sent", "r4")

describe("the lineage of a run", () => {
  it("has the event, other handlers, retries, and the events and runs that they caused", () => {
    const root = buildLineage(retry, [order], [other, mail, invoice, sent])
    assert.deepStrictEqual(outline(root), {
      order: [{ r1: [{ r3: [{ mail: [{ r4: [{ sent: ["r6"] }] }, "r5"] }] }] }, "r2"]
    })
    assert.isTrue(hasEffects(root, "r3"))
    assert.isFalse(hasEffects(root, "r6"))
  })

  it("begins with the run itself if it has no event, and survives an origin that was removed", () => {
    const call = makeRun("r1", null, null)
    assert.deepStrictEqual(outline(buildLineage(call, [], [makeRun("r2", "mail", "r1")])), { r1: [{ mail: ["r2"] }] })
    assert.deepStrictEqual(outline(buildLineage(makeRun("r7", "late", "gone"), [], [])), { late: ["r7"] })
  })

  it("finds what a run caused through other runs, and nothing else", () => {
    const found = descendantsOf("r3", [sent, invoice, mail, other, makeRun("r9", "x", "elsewhere")])
    assert.deepStrictEqual(
      found.map(({ run_id }) => run_id),
      ["r4", "r5", "r6"]
    )
  })

  it("makes ids that are in the order of their times", () => {
    assert.isTrue(idAt(1_000) < idAt(2_000))
    assert.match(idAt(Date.parse("2026-01-31T12:00:00.000Z")), /^[0-9a-f]{8}-[0-9a-f]{4}-7000-8000-0{12}$/)
  })
})
