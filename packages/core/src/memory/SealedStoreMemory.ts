/** `SealedStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { certificatePlace } from "../domains/DomainCertificate.ts"
import type { Place } from "../encryption/Keyring.ts"
import { keyIdOf, type Sealed } from "../encryption/Sealed.ts"
import { SealedStore, type SealedValue } from "../encryption/SealedStore.ts"
import { ContextVariable, contextPlace } from "../secrets/ContextVariable.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

/** The sealed values of one table. */
interface Holder {
  readonly values: () => ReadonlyArray<SealedValue>
  readonly put: (id: string, next: Sealed) => void
}

export const layer: Layer.Layer<SealedStore, never, MemoryDatabase> = Layer.effect(
  SealedStore,
  Effect.map(MemoryDatabase, ({ contextVariables, certificates }) => {
    const holders: Readonly<Partial<Record<Place["table"], Holder>>> = {
      context_variables: {
        values: () =>
          [...contextVariables.values()].map(({ project_id, key, value }) => ({
            place: contextPlace(project_id, key),
            sealed: value
          })),
        put: (id, value) => {
          const old = contextVariables.get(id)
          if (old !== undefined) contextVariables.set(id, new ContextVariable({ ...old, value }))
        }
      },
      certificates: {
        values: () =>
          [...certificates.values()].map(({ domain_id, private_key }) => ({
            place: certificatePlace(domain_id),
            sealed: private_key
          })),
        put: (id, private_key) => {
          const old = [...certificates.values()].find(({ domain_id }) => domain_id === id)
          if (old !== undefined) certificates.set(old.domain_id, { ...old, private_key })
        }
      }
    }

    return SealedStore.of({
      sealedByOthers: (keyId, { after, limit }) =>
        Effect.sync(() =>
          Object.values(holders)
            .flatMap((holder) => holder.values())
            .filter(
              ({ place, sealed }) => keyIdOf(sealed) !== keyId && (after === null || comparePlaces(place, after) > 0)
            )
            .sort((a, b) => comparePlaces(a.place, b.place))
            .slice(0, limit)
        ),

      replace: ({ place, sealed }, next) =>
        Effect.sync(() => {
          const holder = holders[place.table]
          const found = holder?.values().find((value) => value.place.id === place.id)
          if (found?.sealed !== sealed) return false
          holder?.put(place.id, next)
          return true
        })
    })
  })
)

const comparePlaces = (a: Place, b: Place): number => compareText(a.table, b.table) || compareText(a.id, b.id)
