/** Every object ref in one place, so that types can point at each other without import cycles. */
