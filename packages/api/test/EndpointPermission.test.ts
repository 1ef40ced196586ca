import { assert, describe, it } from "@effect/vitest"
import { permittedEndpoints } from "@weft/api"

describe("permissions of endpoints", () => {
  it("annotate every endpoint behind Permitted, and no other", () => {
    const permissions = permittedEndpoints()
    assert.strictEqual(permissions.get("projects.list")?.type, "project")
    assert.isFalse(permissions.has("status.get"))
  })

  it("have the audit action of endpoints whose refusals are audited", () => {
    const audited = [...permittedEndpoints().values()].flatMap(({ audit }) => audit ?? [])
    assert.lengthOf(audited, 37)
    assert.strictEqual(permittedEndpoints().get("sessions.create")?.audit, "session.create")
  })
})
