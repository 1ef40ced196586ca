/** All shapes by their names, in the order of the table. */
import type { Shape } from "./Shape.ts"
import { accessShapes } from "./shapes/access.ts"
import { buildShapes } from "./shapes/builds.ts"
import { durableShapes } from "./shapes/durable.ts"
import { egressShapes } from "./shapes/egress.ts"
import { evaluationShapes } from "./shapes/evaluation.ts"
import { eventShapes } from "./shapes/events.ts"
import { fileShapes } from "./shapes/files.ts"
import { hostCallShapes } from "./shapes/hostCalls.ts"
import { httpShapes } from "./shapes/http.ts"
import { operationShapes } from "./shapes/operations.ts"
import { sandboxShapes } from "./shapes/sandbox.ts"
import { scheduleShapes } from "./shapes/schedules.ts"
import { storageShapes } from "./shapes/storage.ts"
import { streamShapes } from "./shapes/streams.ts"
import { toolShapes } from "./shapes/tools.ts"
import { webhookShapes } from "./shapes/webhooks.ts"

const all: ReadonlyArray<Shape> = [
  ...httpShapes,
  ...webhookShapes,
  ...accessShapes,
  ...toolShapes,
  ...sandboxShapes,
  ...hostCallShapes,
  ...egressShapes,
  ...eventShapes,
  ...scheduleShapes,
  ...streamShapes,
  ...buildShapes,
  ...fileShapes,
  ...storageShapes,
  ...operationShapes,
  ...durableShapes,
  ...evaluationShapes
]

export const shapes: ReadonlyMap<string, Shape> = new Map(all.map((shape) => [shape.name, shape]))

/** Returns the shapes of a comma-separated list of names; all by default. Throws for an unknown name. */
export const selectShapes = (only: string | undefined): ReadonlyArray<Shape> =>
  only === undefined
    ? all
    : only.split(",").map((name) => {
        const shape = shapes.get(name.trim())
        if (shape !== undefined) return shape
        throw new Error(`Unknown shape ${JSON.stringify(name.trim())} in --only; --list prints the names`)
      })
