/** `SealedStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { SealContext } from "../platform/encryption/Keyring.ts"
import { keyIdOf, type Sealed } from "../platform/encryption/Sealed.ts"
import { SealedStore, type SealedValue } from "../platform/encryption/SealedStore.ts"
import { certificatePlace } from "../resources/domains/DomainCertificate.ts"
import { ContextVariable, contextPlace } from "../resources/secrets/ContextVariable.ts"
import { recordingPlace } from "../runtime/runs/Recording.ts"
import { tokenPlace } from "../runtime/runs/WorkflowToken.ts"
import { ServiceKey } from "../tenants/access/ServiceKey.ts"
import { Session } from "../tenants/access/Session.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

/** Access to the encrypted values of one table. */
interface SealedTable {
  readonly values: () => ReadonlyArray<SealedValue>
  readonly put: (id: string, next: Sealed) => void
}

export const layer: Layer.Layer<SealedStore, never, MemoryDatabase> = Layer.effect(
  SealedStore,
  Effect.map(MemoryDatabase, ({ contextVariables, sessions, serviceKeys, certificates, tokens, recordings }) => {
    const tables: Readonly<Record<SealContext["table"], SealedTable>> = {
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
      sessions: {
        values: () => [...sessions.values()].flatMap((row) => toValues("sessions", row.session_id, row.metadata)),
        put: (id, metadata) => {
          const old = [...sessions.values()].find(({ session_id }) => session_id === id)
          if (old !== undefined) sessions.set(old.session_id, new Session({ ...old, metadata }))
        }
      },
      service_keys: {
        values: () =>
          [...serviceKeys.values()].flatMap((row) => toValues("service_keys", row.service_key_id, row.metadata)),
        put: (id, metadata) => {
          const old = [...serviceKeys.values()].find(({ service_key_id }) => service_key_id === id)
          if (old !== undefined) serviceKeys.set(old.service_key_id, new ServiceKey({ ...old, metadata }))
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
      },
      workflow_tokens: {
        values: () => [...tokens.values()].map((token) => ({ place: tokenPlace(token), sealed: token.secret })),
        put: (id, secret) => {
          for (const [key, old] of tokens) if (tokenPlace(old).id === id) tokens.set(key, { ...old, secret })
        }
      },
      run_recordings: {
        values: () =>
          [...recordings.values()].map((recording) => ({
            place: recordingPlace(recording),
            sealed: recording.contents
          })),
        put: (id, contents) => {
          for (const [runId, old] of recordings) {
            if (recordingPlace(old).id === id) recordings.set(runId, { ...old, contents })
          }
        }
      }
    }

    return SealedStore.of({
      sealedByOthers: (keyId, { after, limit }) =>
        Effect.sync(() =>
          Object.values(tables)
            .flatMap((table) => table.values())
            .filter(
              ({ place, sealed }) => keyIdOf(sealed) !== keyId && (after === null || comparePlaces(place, after) > 0)
            )
            .sort((a, b) => comparePlaces(a.place, b.place))
            .slice(0, limit)
        ),

      replace: ({ place, sealed }, next) =>
        Effect.sync(() => {
          const table = tables[place.table]
          const found = table.values().find((value) => value.place.id === place.id)
          if (found?.sealed !== sealed) return false
          table.put(place.id, next)
          return true
        })
    })
  })
)

const toValues = (table: SealContext["table"], id: string, sealed: Sealed | null): ReadonlyArray<SealedValue> =>
  sealed === null ? [] : [{ place: { table, id }, sealed }]

const comparePlaces = (a: SealContext, b: SealContext): number =>
  compareText(a.table, b.table) || compareText(a.id, b.id)
