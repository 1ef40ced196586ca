/** Nodes whose hosts provision tenants, on stores that outlive the nodes. */

import { it } from "@effect/vitest"
import { type layer as Layers, layer as nodeLayer, type WeftServices } from "@weft/core"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Layer, Scope } from "effect"
import { masterKeys } from "../../world.ts"

export type Provisioning = NonNullable<Parameters<typeof Layers>[0]["provisioning"]>

/** A test on new stores. */
export const check = <E>(claim: string, body: Effect.Effect<void, E, Layer.Success<typeof MemoryStores.layer>>) =>
  it.effect(claim, () => Effect.provide(body, MemoryStores.layer))

/** Starts a node with this configuration of its host. `on` runs effects on it, `stop` stops it. */
export const startNode = Effect.fnUntraced(function* (provisioning: Provisioning = {}) {
  const scope = yield* Scope.make()
  const node = nodeLayer({ masterKeys, provisioning }).pipe(Layer.provide(trustedSandbox({})))
  const context = yield* Layer.buildWithScope(Layer.fresh(node), scope)
  return {
    on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
    stop: Scope.close(scope, Exit.void)
  }
})
