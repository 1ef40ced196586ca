/** Stores of admissions with one fault each, of which the contract must notice every one. */
import { admissionStoreChecks } from "@weft/contract"
import { type Admission, AdmissionStore, Timestamp } from "@weft/core"
import { Effect } from "effect"
import { envId } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

const changing = (change: (admission: Admission) => Admission) =>
  faulty(AdmissionStore, (store) => ({ admit: (admission) => store.admit(change(admission)) }))

notices("the contract of admissions", admissionStoreChecks, {
  "knows no requests": changing((admission) => ({ ...admission, request: null })),
  "knows no handlers": changing((admission) => ({
    ...admission,
    deliveries: admission.deliveries.map((one) => ({ ...one, onceKey: null }))
  })),
  "takes handlers' keys for those of requests": changing((admission) => ({
    ...admission,
    request: admission.request ?? { key: admission.deliveries[0]?.onceKey ?? "", digest: "" }
  })),
  "forgets digests": changing((admission) => ({
    ...admission,
    request: admission.request === null ? null : { ...admission.request, digest: "" }
  })),
  "keeps keys for ever": changing((admission) => ({ ...admission, until: Timestamp.make(8_640_000_000_000_000) })),
  "keeps keys a millisecond too long": changing((admission) => ({
    ...admission,
    until: Timestamp.make(admission.until + 1)
  })),
  "loses deliveries": changing((admission) => ({ ...admission, deliveries: [] })),
  "looks for earlier requests before it waits": faulty(AdmissionStore, (store) => ({
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
  "forgets what is taken": faulty(AdmissionStore, (store) => ({
    forget: (_, limit) => store.forget(Timestamp.make(8_640_000_000_000_000), limit)
  })),
  "forgets more than the limit": faulty(AdmissionStore, (store) => ({ forget: (now) => store.forget(now, 1000) })),
  "never forgets": faulty(AdmissionStore, () => ({ forget: () => Effect.succeed(0) }))
})
