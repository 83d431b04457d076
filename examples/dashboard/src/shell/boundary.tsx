import { Component, type ReactNode } from 'react';
import { Problem } from './problem.js';

interface BoundaryProps {
  readonly children: ReactNode;
}

/** Shows a fault of one part in its place: without it React would take the whole page away. */
export class Boundary extends Component<BoundaryProps, { readonly error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error ? <Problem faults={[{ code: String(error) }]} isRepeated={false} /> : this.props.children;
  }
}
