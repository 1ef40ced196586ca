/** The result of a run, or the error with which it failed. */
import type { Run } from "@weft/client"
import { type JSX, Show } from "solid-js"
import { DataTree } from "../design/DataTree.tsx"
import { t } from "../text/Language.ts"
import { faultOf } from "./Fault.ts"

export const RunOutcome = (props: { readonly run: Run }): JSX.Element => (
  <Show when={props.run.status !== "running"} fallback={<p class="muted">{t().run.pending}</p>}>
    <Show when={faultOf(props.run.result)} fallback={<DataTree value={props.run.result} />}>
      {(fault) => (
        <>
          <p class="notice">
            <strong>{fault().name}</strong>
            <span>{fault().message}</span>
          </p>
          <Show when={fault().stack}>{(stack) => <pre class="stack">{stack()}</pre>}</Show>
        </>
      )}
    </Show>
  </Show>
)
