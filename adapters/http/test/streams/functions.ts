/** Functions whose streams the tests subscribe to. */
import type { TrustedModule, TrustedSvc } from "@weft/core/testing"

interface GuestEvent {
  readonly event_data: { readonly n: number; readonly emit?: number }
}

const onTick = Object.assign(
  async (event: GuestEvent, svc: TrustedSvc) => {
    const { n, emit = 0 } = event.event_data
    for (let step = 0; step < emit; step++) await svc.stream.emit("progress", { n, step })
    return { n, line: "a\nb" }
  },
  { meta: { event: "tick" } }
)

const onFail = Object.assign(
  () => {
    throw new Error("it failed")
  },
  { meta: { event: "fail" } }
)

const emits = Object.assign(
  async (
    event: { readonly event_data: { readonly data_type: string; readonly payload: unknown } },
    svc: TrustedSvc
  ) => {
    await svc.stream.emit(event.event_data.data_type, event.event_data.payload)
  },
  { meta: { event: "emit" } }
)

const hook = Object.assign(() => "hooked", { meta: { webhook: { service: "hooks", path: "/now", method: "GET" } } })

const stuck = Object.assign(() => new Promise(() => undefined), {
  meta: { webhook: { service: "hooks", path: "/stuck", method: "GET" } }
})

export const modules: Readonly<Record<string, TrustedModule>> = {
  ticks: { main: { onTick, onFail, emits, hook, stuck } },
  echo: { main: { onTick } }
}
