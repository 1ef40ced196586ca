/** JSON as a tree whose branches open and close. Large branches are closed at first, and show their first entries. */
import type { Json } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { t } from "../text/Language.ts"

const openDepth = 2
const shownFirst = 100

export const DataTree = (props: { readonly value: Json }): JSX.Element => (
  <div class="tree">
    <Node value={props.value} depth={0} />
  </div>
)

interface NodeProps {
  readonly value: Json
  readonly depth: number
  readonly name?: string
}

const Node = (props: NodeProps): JSX.Element => (
  <Show when={entriesOf(props.value)} fallback={<Leaf value={props.value} name={props.name} />}>
    {(entries) => <Branch {...props} entries={entries()} />}
  </Show>
)

type Entries = ReadonlyArray<readonly [string, Json]>

/** Returns the entries of an object or array, or undefined for other values. */
const entriesOf = (value: Json): Entries | undefined =>
  typeof value === "object" && value !== null ? Object.entries(value) : undefined

const Branch = (props: NodeProps & { readonly entries: Entries }): JSX.Element => {
  const [isOpen, setOpen] = createSignal(props.depth < openDepth && props.entries.length <= shownFirst)
  const [limit, setLimit] = createSignal(shownFirst)
  const brackets = () => (Array.isArray(props.value) ? "[]" : "{}")
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen()}
        title={isOpen() ? t().common.collapse : t().common.expand}
        onClick={() => setOpen(!isOpen())}
      >
        <span class="marker" aria-hidden="true">
          {isOpen() ? "▾" : "▸"}
        </span>
        <Name name={props.name} />
        <span class="muted">
          {brackets()[0]}
          <Show when={!isOpen() || props.entries.length === 0}>
            {props.entries.length === 0 ? "" : ` ${t().common.items(props.entries.length)} `}
            {brackets()[1]}
          </Show>
        </span>
      </button>
      <Show when={isOpen() && props.entries.length > 0}>
        <ul>
          <For each={props.entries.slice(0, limit())}>
            {([name, value]) => (
              <li>
                <Node value={value} name={name} depth={props.depth + 1} />
              </li>
            )}
          </For>
          <Show when={props.entries.length > limit()}>
            <li>
              <button type="button" onClick={() => setLimit(limit() + shownFirst)}>
                {t().common.more}
              </button>
            </li>
          </Show>
        </ul>
      </Show>
    </>
  )
}

const Name = (props: { readonly name: string | undefined }): JSX.Element => (
  <Show when={props.name !== undefined}>
    <span class="key">{props.name}</span>
    {": "}
  </Show>
)

const Leaf = (props: { readonly value: Json; readonly name: string | undefined }): JSX.Element => {
  const kind = () => (typeof props.value === "string" ? "text" : typeof props.value === "number" ? "number" : "word")
  return (
    <span>
      <span class="marker" aria-hidden="true" />
      <Name name={props.name} />
      <span class={kind()}>{JSON.stringify(props.value)}</span>
    </span>
  )
}
