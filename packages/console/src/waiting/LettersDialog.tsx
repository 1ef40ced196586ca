/** Redrives or discards the dead letters that match filters, or all of them. */
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { TextField } from "../design/TextField.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"

export type LettersAction = "redrive" | "discard"

const builds = ["deployed", "same"] as const

type BuildChoice = (typeof builds)[number]

export const LettersDialog = (props: { readonly action: LettersAction; readonly onClose: () => void }): JSX.Element => {
  const [project, setProject] = createSignal("")
  const [fn, setFn] = createSignal("")
  const [type, setType] = createSignal("")
  const [build, setBuild] = createSignal<BuildChoice>("deployed")
  const isRedrive = () => props.action === "redrive"
  const selection = () => ({
    ...(project().trim() === "" ? {} : { project: project().trim() }),
    ...(fn().trim() === "" ? {} : { fn: fn().trim() }),
    ...(type().trim() === "" ? {} : { event_type: type().trim() })
  })
  const send = async () => {
    if (isRedrive()) {
      const { count, skipped } = await passes(async (cursor) => {
        const { redriven, ...rest } = await weft.deadLetters.redrive({ ...selection(), build: build(), ...cursor })
        return { count: redriven, ...rest }
      })
      showToast(t().deadLetters.redrivenCount(count, skipped))
    } else {
      const { count } = await passes(async (cursor) => {
        const { discarded, ...rest } = await weft.deadLetters.discard({ ...selection(), ...cursor })
        return { count: discarded, ...rest }
      })
      showToast(t().deadLetters.discardedCount(count))
    }
  }
  const command = () => {
    const flags = [...flag("project", project()), ...flag("function", fn()), ...flag("event-type", type())]
    return [
      `weft dead-letters ${props.action}`,
      ...(flags.length === 0 ? ["--all"] : flags),
      ...(isRedrive() && build() === "deployed" ? ["--build deployed"] : [])
    ].join(" ")
  }
  const texts = () => t().deadLetters
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={isRedrive() ? texts().redriveTitle : texts().discardTitle}
      text={isRedrive() ? texts().redriveText : texts().discardText}
      action={isRedrive() ? texts().redrive : texts().discard}
      command={command()}
      isDanger={!isRedrive()}
      onConfirm={send}
    >
      <TextField label={t().waiting.project} placeholder="shop" value={project()} onInput={setProject} />
      <TextField label={t().waiting.function} placeholder="orders/confirm" value={fn()} onInput={setFn} />
      <TextField label={t().waiting.eventType} placeholder="order:created" value={type()} onInput={setType} />
      <Show when={isRedrive()}>
        <fieldset class="options">
          <legend>{texts().build}</legend>
          <For each={builds}>
            {(each) => (
              <label class="check">
                <input type="radio" name="build" checked={build() === each} onChange={() => setBuild(each)} />
                {texts().builds[each]}
              </label>
            )}
          </For>
        </fieldset>
      </Show>
    </Confirm>
  )
}

interface PassResult {
  readonly count: number
  readonly skipped: ReadonlyArray<{ readonly count: number }>
  readonly next: string | null
}

/** Sends requests until no letter is left, and adds up their numbers. */
const passes = async (send: (cursor: { readonly cursor?: string }) => Promise<PassResult>) => {
  let count = 0
  let skipped = 0
  let next: string | null = null
  do {
    const result: PassResult = await send(next === null ? {} : { cursor: next })
    count += result.count
    skipped += result.skipped.reduce((sum, each) => sum + each.count, 0)
    next = result.next
  } while (next !== null)
  return { count, skipped }
}

const flag = (name: string, value: string): ReadonlyArray<string> =>
  value.trim() === "" ? [] : [`--${name} ${shellWord(value.trim())}`]
