/** The frame of every page: navigation, search, account and the state of the live subscription. */
import { DropdownMenu } from "@kobalte/core/dropdown-menu"
import { A, useLocation } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import { createEffect, createSignal, For, type JSX, on, onCleanup, onMount, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { apiOrigin } from "../api/consoleUrl.ts"
import { Icon, type IconName } from "../design/Icon.tsx"
import { Toasts } from "../design/Toasts.tsx"
import { hostAppearance, isEmbedded } from "../embed/Host.ts"
import icon from "../icon.svg"
import { liveConnection, startLive } from "../live/Live.ts"
import { signOut } from "../session/Session.ts"
import { language, languages, setLanguage, t } from "../text/Language.ts"
import { CommandPalette, isPaletteShortcut } from "./CommandPalette.tsx"
import { setTheme, theme, themes } from "./Theme.ts"

/** The pages by group. */
const groups = {
  activity: ["overview", "runs", "operations", "waiting", "events", "streams", "schedules", "alerts"],
  code: ["functions", "webhooks", "projects", "editor"],
  data: ["secrets", "files", "domains"],
  access: ["access", "audit"],
  server: ["operator"]
} as const satisfies Readonly<Record<string, ReadonlyArray<IconName>>>

const groupNames = ["activity", "code", "data", "access", "server"] as const

export type PageName = (typeof groups)[(typeof groupNames)[number]][number]

/** Returns the pages of a group, of which a host may have chosen some. */
const pagesOf = (group: (typeof groupNames)[number]): ReadonlyArray<PageName> =>
  groups[group].filter(
    (page) => (hostAppearance().pages?.includes(page) ?? true) && !(isEmbedded && page === "operator")
  )

export const pagePath = (page: PageName): string => (page === "overview" ? "/" : `/${page}`)

export const Shell = (props: { readonly children?: JSX.Element }): JSX.Element => {
  const [isMenuOpen, setMenuOpen] = createSignal(false)
  const [isPaletteOpen, setPaletteOpen] = createSignal(false)
  const location = useLocation()
  let main: HTMLElement | undefined
  onCleanup(startLive())
  // A navigation closes the menu and continues reading at the new page.
  createEffect(
    on(
      () => location.pathname,
      () => {
        setMenuOpen(false)
        main?.focus()
      },
      { defer: true }
    )
  )
  onMount(() => {
    const openPalette = (event: KeyboardEvent) => {
      if (!isPaletteShortcut(event)) return
      event.preventDefault()
      setPaletteOpen(true)
    }
    window.addEventListener("keydown", openPalette)
    onCleanup(() => window.removeEventListener("keydown", openPalette))
  })
  return (
    <>
      <button type="button" class="button skip" onClick={() => main?.focus()}>
        {t().app.skip}
      </button>
      <div class="frame">
        <header class="top">
          <button
            type="button"
            class="button quiet icon"
            aria-label={t().app.menu}
            aria-expanded={isMenuOpen()}
            onClick={() => setMenuOpen(!isMenuOpen())}
          >
            <Icon name={isMenuOpen() ? "close" : "menu"} />
          </button>
          <Brand />
          <Live />
        </header>
        <aside class="side" classList={{ open: isMenuOpen() }} aria-label={t().app.menu}>
          <Brand />
          <button type="button" class="button search" onClick={() => setPaletteOpen(true)}>
            <Icon name="search" />
            {t().palette.open}
            <span class="kbd" aria-hidden="true">
              Ctrl K
            </span>
          </button>
          <nav aria-label={t().app.navigation}>
            <For each={groupNames.filter((group) => pagesOf(group).length > 0)}>
              {(group) => <NavGroup name={group} />}
            </For>
          </nav>
          <div class="side-foot">
            <Live />
            <Account />
          </div>
        </aside>
        <main class="main" id="main" tabindex="-1" ref={main}>
          {props.children}
        </main>
      </div>
      <CommandPalette
        isOpen={isPaletteOpen()}
        onClose={() => setPaletteOpen(false)}
        pages={groupNames.flatMap(pagesOf)}
      />
      <Toasts />
    </>
  )
}

const NavGroup = (props: { readonly name: (typeof groupNames)[number] }): JSX.Element => (
  <div class="nav-group">
    <p class="nav-title" id={`nav-${props.name}`}>
      {t().navGroups[props.name]}
    </p>
    <ul aria-labelledby={`nav-${props.name}`}>
      <For each={pagesOf(props.name)}>
        {(page) => (
          <li>
            <A class="nav-link" href={pagePath(page)} end={page === "overview"}>
              <Icon name={page} />
              {t().nav[page]}
            </A>
          </li>
        )}
      </For>
    </ul>
  </div>
)

const Brand = (): JSX.Element => {
  const env = useQuery(() => ({
    queryKey: ["env"],
    queryFn: () => weft.env.get(),
    staleTime: Number.POSITIVE_INFINITY
  }))
  return (
    <div class="brand">
      <img src={hostAppearance().logo ?? icon} alt="" />
      <div class="brand-name">
        <strong>{hostAppearance().name ?? t().app.name}</strong>
        <Show when={env.data}>
          {(data) => (
            <span>
              {data().org_slug} / {data().name}
            </span>
          )}
        </Show>
      </div>
    </div>
  )
}

const Live = (): JSX.Element => (
  <span class={`live ${liveConnection()}`} role="status">
    {t().app.live[liveConnection()]}
  </span>
)

const Account = (): JSX.Element => (
  <DropdownMenu placement="top-end">
    <DropdownMenu.Trigger class="button quiet icon" aria-label={t().app.account}>
      <Icon name="user" />
    </DropdownMenu.Trigger>
    <DropdownMenu.Portal>
      <DropdownMenu.Content class="menu">
        <DropdownMenu.RadioGroup
          value={theme()}
          onChange={(value) => setTheme(themes.find((one) => one === value) ?? "system")}
        >
          <DropdownMenu.GroupLabel class="menu-label">{t().app.theme}</DropdownMenu.GroupLabel>
          <For each={themes}>
            {(one) => (
              <DropdownMenu.RadioItem class="menu-item" value={one}>
                {t().app.themes[one]}
                <Checked />
              </DropdownMenu.RadioItem>
            )}
          </For>
        </DropdownMenu.RadioGroup>
        <hr class="menu-line" />
        <DropdownMenu.RadioGroup
          value={language()}
          onChange={(value) => setLanguage(languages.find((one) => one === value) ?? "en")}
        >
          <DropdownMenu.GroupLabel class="menu-label">{t().app.languages}</DropdownMenu.GroupLabel>
          <DropdownMenu.RadioItem class="menu-item" value="en" lang="en">
            English
            <Checked />
          </DropdownMenu.RadioItem>
          <DropdownMenu.RadioItem class="menu-item" value="de" lang="de">
            Deutsch
            <Checked />
          </DropdownMenu.RadioItem>
        </DropdownMenu.RadioGroup>
        <hr class="menu-line" />
        <DropdownMenu.Item class="menu-item" as="a" href={`${apiOrigin}/docs`} target="_blank" rel="noreferrer">
          {t().app.apiReference}
        </DropdownMenu.Item>
        <Show when={!isEmbedded}>
          <DropdownMenu.Item class="menu-item" onSelect={() => void signOut()}>
            {t().app.signOut}
          </DropdownMenu.Item>
        </Show>
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  </DropdownMenu>
)

const Checked = (): JSX.Element => (
  <DropdownMenu.ItemIndicator class="end">
    <Icon name="check" />
  </DropdownMenu.ItemIndicator>
)
