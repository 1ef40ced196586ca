/** A sample of the proof `compatibility`, with packages that this repository installs. */
import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, layer } from "@effect/vitest"
import { sandbox } from "@weft/sandbox"
import { Effect } from "effect"
import { areas } from "../src/compatibility/cases/all.ts"
import { tryCase } from "../src/compatibility/Trial.ts"

const sample = ["cron-parser", "date-fns", "effect", "fflate", "hono", "marked", "valibot", "zod"]

/** Packages of the repository are found from here. */
const folder = fileURLToPath(new URL("../../node_modules/.cache/weft-compatibility", import.meta.url))

describe("a package of npm", () => {
  layer(sandbox({ runners: 1 }))((it) => {
    for (const name of sample) {
      it.effect(`does its work in a function: ${name}`, () =>
        Effect.gen(function* () {
          mkdirSync(folder, { recursive: true })
          const found = areas.flatMap(({ cases }) => cases).find((each) => each.name === name)
          assert.isDefined(found)
          assert.isNull((yield* tryCase(folder, found)).failure)
        })
      )
    }
  })
})
