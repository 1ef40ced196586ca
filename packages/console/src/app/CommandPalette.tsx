/** Search and commands by keyboard: pages, and runs or events by their ids. */
import { Dialog } from "@kobalte/core/dialog"
import { useNavigate } from "@solidjs/router"
import { createMemo, createSignal, For, type JSX, Show } from "solid-js"
import { Icon, type IconName } from "../design/Icon.tsx"
import { t } from "../text/Language.ts"
import { type PageName, pagePath } from "./Shell.tsx"

/** Ctrl+K or ⌘K. */
export const isPaletteShortcut = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && key.toLowerCase() === "k"

interface Command {
  readonly icon: IconName
  readonly label: string
  readonly path: string
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

export const CommandPalette = (props: {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly pages: ReadonlyArray<PageName>
}): JSX.Element => (
  <Dialog open={props.isOpen} onOpenChange={(isOpen) => isOpen || props.onClose()}>
    <Dialog.Portal>
      <Dialog.Overlay class="overlay" />
      <div class="dialog-place">
        <Dialog.Content class="dialog palette">
          <Dialog.Title class="visually-hidden">{t().palette.open}</Dialog.Title>
          <Commands pages={props.pages} onDone={props.onClose} />
        </Dialog.Content>
      </div>
    </Dialog.Portal>
  </Dialog>
)

const Commands = (props: { readonly pages: ReadonlyArray<PageName>; readonly onDone: () => void }): JSX.Element => {
  const navigate = useNavigate()
  const [query, setQuery] = createSignal("")
  const [chosen, setChosen] = createSignal(0)
  const commands = createMemo(() => findCommands(props.pages, query()))
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    props.onDone()
    navigate(command.path)
  }
  const onKey = (event: KeyboardEvent) => {
    const count = commands().length
    if (event.key === "Enter") run(commands()[chosen()])
    else if (event.key === "ArrowDown" && count > 0) setChosen((chosen() + 1) % count)
    else if (event.key === "ArrowUp" && count > 0) setChosen((chosen() + count - 1) % count)
    else return
    event.preventDefault()
  }
  return (
    <>
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-autocomplete="list"
        aria-activedescendant={commands().length === 0 ? undefined : `command-${chosen()}`}
        aria-label={t().palette.open}
        placeholder={t().palette.placeholder}
        value={query()}
        autofocus
        onInput={(event) => {
          setQuery(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKey}
      />
      <Show when={commands().length > 0} fallback={<p class="muted">{t().palette.empty}</p>}>
        <div id="commands" role="listbox" aria-label={t().palette.open}>
          <For each={commands()}>
            {(command, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys of its options
              <div
                class="menu-item"
                role="option"
                id={`command-${index()}`}
                aria-selected={index() === chosen()}
                tabindex="-1"
                data-highlighted={index() === chosen() ? "" : undefined}
                onMouseMove={() => setChosen(index())}
                onClick={() => run(command)}
              >
                <Icon name={command.icon} />
                {command.label}
              </div>
            )}
          </For>
        </div>
      </Show>
      <p class="muted palette-hint">{t().palette.hint}</p>
    </>
  )
}

const findCommands = (pages: ReadonlyArray<PageName>, query: string): ReadonlyArray<Command> => {
  const id = uuid.exec(query)?.[0]
  if (id !== undefined) {
    return [
      { icon: "runs", label: t().palette.openRun, path: `/runs/${id}` },
      { icon: "events", label: t().palette.openEvent, path: `/events/${id}` }
    ]
  }
  const wanted = query.trim().toLowerCase()
  return pages
    .map((page): Command => ({ icon: page, label: t().nav[page], path: pagePath(page) }))
    .filter(({ label }) => label.toLowerCase().includes(wanted))
}
