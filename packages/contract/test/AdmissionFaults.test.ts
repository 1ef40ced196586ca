/** Stores of admissions with one fault each, which the contract must detect. */
import { admissionStoreChecks } from "@weft/contract"
import { type Admission, AdmissionStore, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { envId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

const changing = (change: (admission: Admission) => Admission) =>
  faulty(AdmissionStore, (store) => ({ admit: (admission) => store.admit(change(admission)) }))

detects("the contract of admissions", admissionStoreChecks, {
  "ignores requests": changing((admission) => ({ ...admission, request: null })),
  "ignores keys of handlers": changing((admission) => ({
    ...admission,
    deliveries: admission.deliveries.map((one) => ({ ...one, onceKey: null }))
  })),
  "mixes keys of handlers and requests": changing((admission) => ({
    ...admission,
    request: admission.request ?? { key: admission.deliveries[0]?.onceKey ?? "", digest: "" }
  })),
  "loses digests": changing((admission) => ({
    ...admission,
    request: admission.request === null ? null : { ...admission.request, digest: "" }
  })),
  "never expires keys": changing((admission) => ({ ...admission, until: Timestamp.make(8_640_000_000_000_000) })),
  "keeps keys a millisecond too long": changing((admission) => ({
    ...admission,
    until: Timestamp.make(admission.until + 1)
  })),
  "loses deliveries": changing((admission) => ({ ...admission, deliveries: [] })),
  "checks for earlier requests before it waits": faulty(AdmissionStore, (store) => ({
    admit: (admission) =>
      admission.request === null
        ? store.admit(admission)
        : Effect.flatMap(store.earlier(admission.event.env_id, admission.request.key, admission.now), (earlier) =>
            earlier === null
              ? Effect.andThen(Effect.yieldNow, store.admit({ ...admission, request: null }))
              : Effect.succeed({ _tag: "Earlier", earlier })
          )
  })),
  "finds requests of other environments": faulty(AdmissionStore, (store) => ({
    earlier: (_, key, now) => store.earlier(envId(1), key, now)
  })),
  "finds requests that have expired": faulty(AdmissionStore, (store) => ({
    earlier: (env, key) => store.earlier(env, key, Timestamp.make(0))
  })),
  "forgets keys that are claimed": faulty(AdmissionStore, (store) => ({
    forget: (_, limit) => store.forget(Timestamp.make(8_640_000_000_000_000), limit)
  })),
  "forgets more keys than the limit": faulty(AdmissionStore, (store) => ({ forget: (now) => store.forget(now, 1000) })),
  "never forgets keys": faulty(AdmissionStore, () => ({ forget: () => Effect.succeed(0) }))
})
