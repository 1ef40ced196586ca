/** Nodes of hosts that have to do with the coming of tenants, on stores that outlive them. */

import { it } from "@effect/vitest"
import { type layer as Layers, MemoryStores, layer as nodeLayer, trustedSandbox, type WeftServices } from "@weft/core"
import { Effect, Exit, Layer, Scope } from "effect"
import { masterKeys } from "../world.ts"

export type Provisioning = NonNullable<Parameters<typeof Layers>[0]["provisioning"]>

/** A test on stores of its own. */
export const check = <E>(claim: string, body: Effect.Effect<void, E, Layer.Success<typeof MemoryStores.layer>>) =>
  it.effect(claim, () => Effect.provide(body, MemoryStores.layer))

/** Starts a node whose host wants this; `on` acts there. */
export const born = Effect.fnUntraced(function* (provisioning: Provisioning = {}) {
  const scope = yield* Scope.make()
  const node = nodeLayer({ masterKeys, provisioning }).pipe(Layer.provide(trustedSandbox({})))
  const context = yield* Layer.buildWithScope(Layer.fresh(node), scope)
  return {
    on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
    die: Scope.close(scope, Exit.void)
  }
})
