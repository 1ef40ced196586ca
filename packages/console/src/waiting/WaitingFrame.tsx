/** The frame of the pages about suspended runs, deliveries, dead letters and pauses, with a link to each. */
import { A } from "@solidjs/router"
import { For, type JSX } from "solid-js"
import { t } from "../text/Language.ts"
import "./waiting.css"

const pages = [
  { name: "runs", path: "/waiting" },
  { name: "deliveries", path: "/waiting/deliveries" },
  { name: "deadLetters", path: "/waiting/dead-letters" },
  { name: "pauses", path: "/waiting/pauses" }
] as const

export const WaitingFrame = (props: {
  readonly intro: string
  readonly actions: JSX.Element
  /** True for pages that fill the window with one table. */
  readonly isTall?: boolean
  readonly children: JSX.Element
}): JSX.Element => (
  <div class={props.isTall === true ? "page tall" : "page"}>
    <div class="page-head">
      <h1>{t().waiting.title}</h1>
      <div class="actions">{props.actions}</div>
    </div>
    <nav class="tabs" aria-label={t().waiting.title}>
      <For each={pages}>
        {({ name, path }) => (
          <A class="tab" href={path} end>
            {t().waiting.pages[name]}
          </A>
        )}
      </For>
    </nav>
    <p class="muted">{props.intro}</p>
    {props.children}
  </div>
)
