import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { addressWith, routeOf } from '../shell/route.js';
import { placeIn, unitPixels } from './unit.js';
import { moved, type Place, type Size, type View, viewOf, zoomed } from './view.js';

export interface MapView {
  readonly size: Size;
  readonly view: View;
  /** About the point, or the middle. */
  zoom(factor: number, x?: number, y?: number): void;
  showAll(): void;
  readonly handlers: {
    onPointerDown(event: PointerEvent<HTMLElement>): void;
    onPointerMove(event: PointerEvent<HTMLElement>): void;
    onPointerUp(event: PointerEvent<HTMLElement>): void;
    onPointerCancel(event: PointerEvent<HTMLElement>): void;
    onKeyDown(event: KeyboardEvent): void;
  };
}

const stepPixels = 80;

/** The view and what moves it: pointer, wheel, pinch, keys. It fits the places until somebody has moved it. */
export function useMapView(frame: RefObject<HTMLElement | null>, places: readonly Place[]): MapView {
  const [size, setSize] = useState<Size>({ width: 800, height: 500 });
  const [chosen, setChosen] = useState<View | null>(viewOfAddress);
  const pointers = useRef(new Map<number, { readonly x: number; readonly y: number }>());
  const fitting = useMemo(() => viewOf(places, size), [places, size]);
  const view = chosen ?? fitting;
  const latest = useRef({ view, size });
  latest.current = { view, size };

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth / unitPixels(), height: element.clientHeight / unitPixels() }),
    );
    observer.observe(element);
    // React listens to wheels passively, and the page would scroll.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const at = placeIn(element, event);
      const factor = 2 ** (-event.deltaY / (event.deltaMode === 0 ? 300 : 10));
      const now = latest.current;
      setChosen(zoomed(now.view, factor, now.size, at.x, at.y));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener('wheel', onWheel);
    };
  }, [frame]);

  useEffect(() => {
    const follow = () => setChosen(viewOfAddress());
    globalThis.addEventListener('hashchange', follow);
    return () => globalThis.removeEventListener('hashchange', follow);
  }, []);

  useEffect(() => {
    const timer = setTimeout(() => showInAddress(chosen), 300);
    return () => clearTimeout(timer);
  }, [chosen]);

  const zoom = (factor: number, x?: number, y?: number) => setChosen(zoomed(view, factor, size, x, y));
  const showAll = () => setChosen(null);

  function onPointerMove(event: PointerEvent<HTMLElement>): void {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = placeIn(event.currentTarget, event);
    pointers.current.set(event.pointerId, now);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) {
      setChosen(moved(latest.current.view, now.x - before.x, now.y - before.y));
      return;
    }
    const between = (one: typeof now) => Math.hypot(one.x - other.x, one.y - other.y);
    const [x, y] = [(now.x + other.x) / 2, (now.y + other.y) / 2];
    const factor = between(now) / Math.max(1, between(before));
    setChosen(zoomed(latest.current.view, factor, latest.current.size, x, y));
  }

  function leave({ pointerId }: PointerEvent): void {
    pointers.current.delete(pointerId);
  }

  return {
    size,
    view,
    zoom,
    showAll,
    handlers: {
      onPointerDown(event) {
        pointers.current.set(event.pointerId, placeIn(event.currentTarget, event));
        event.currentTarget.setPointerCapture(event.pointerId);
      },
      onPointerMove,
      onPointerUp: leave,
      onPointerCancel: leave,
      onKeyDown(event) {
        const step: Readonly<Record<string, readonly [number, number]>> = {
          ArrowLeft: [stepPixels, 0],
          ArrowRight: [-stepPixels, 0],
          ArrowUp: [0, stepPixels],
          ArrowDown: [0, -stepPixels],
        };
        const direction = step[event.key];
        if (direction) setChosen(moved(view, ...direction));
        else if (event.key === '+' || event.key === '=') zoom(1.5);
        else if (event.key === '-') zoom(1 / 1.5);
        else if (event.key === '0') showAll();
        else return;
        event.preventDefault();
      },
    },
  };
}

/** The address names the view, so that a link shows what the sender sees. */
function viewOfAddress(): View | null {
  const [latitude, longitude, scale] = (routeOf(globalThis.location.hash).parameters.get('map') ?? '')
    .split(',')
    .map(Number);
  if (latitude === undefined || longitude === undefined || scale === undefined) return null;
  return moved({ latitude, longitude, scale }, 0, 0);
}

function showInAddress(view: View | null): void {
  const { page } = routeOf(globalThis.location.hash);
  if (page !== 'live') return;
  const map = view && `${view.latitude.toFixed(4)},${view.longitude.toFixed(4)},${Math.round(view.scale)}`;
  // Not a step of the history: the way back leads to the view before, not to where the map was.
  globalThis.history.replaceState(null, '', addressWith({ map }));
}
